import TransferEngine

/// The parts that move bytes; each owns the transfers of its kind.
struct TransferParts {
    /// The folders that receive files, and the findings about them.
    let census = FolderCache()
    let preparing: JobPreparing
    let credentials = CredentialProviders()
    let downloads: Downloads
    let segmented: SegmentedDownloads
    let mixChecks: MixChecks
    let sources: SourceChecks
    let dialogues: UploadDialogues
    let copies: Copies
    let abandonments: UploadAbortRequests

    init(_ tools: RunTools) {
        let (engine, builder) = (tools.engine, tools.builder)
        preparing = JobPreparing(engine: engine, census: census, folders: tools.folderWorker)
        downloads = Downloads(engine: engine, builder: builder, census: census)
        mixChecks = MixChecks(engine: engine)
        segmented = SegmentedDownloads(engine: engine)
        sources = SourceChecks(engine: engine)
        dialogues = UploadDialogues(engine: engine)
        copies = Copies(engine: engine)
        abandonments = UploadAbortRequests(
            engine: engine, builder: builder, leases: tools.leases, accept: tools.accept)
    }
}
