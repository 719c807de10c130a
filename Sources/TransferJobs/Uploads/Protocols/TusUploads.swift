import TransferCore
import TransferUpload

/// The uploads by tus: their entry in the registry.
enum TusUploads {
    /// An upload by tus 1.0.
    static let tus: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "tus", method: "POST", keys: ["metadata", "parallel", "chunkSize", "tus"], givesNames: true,
            canBeAsked: true, dialogue: pieces, place: { _ in whereItWasMade }))

    @Sendable private static func pieces(_ attempt: UploadAttempt) throws(TransferError) -> (any UploadDialogue)? {
        let options = attempt.upload.options
        var tus = TusOptions()
        tus.chunkSize = options.chunkSize
        tus.parallel = options.parallel
        tus.checksum = options.tus.checksum
        tus.createsWithBody = options.tus.createsWithUpload
        tus.metadata = try attempt.read(options.metadata).map { TusMetadata($0.name, $0.value) }
        tus.metadata += labels(attempt.source.labels).filter { label in
            !tus.metadata.contains { $0.name == label.name }
        }
        return TusDialogue(url: attempt.upload.url, source: attempt.source, options: tus, state: attempt.state)
    }

    /// Returns the metadata of a copy's source under names for them, since tus itself defines none.
    private static func labels(_ labels: RepresentationLabels?) -> [TusMetadata] {
        guard let labels else { return [] }
        return [
            ("filetype", labels.type), ("contentEncoding", labels.coding),
            ("contentDisposition", labels.disposition), ("contentLanguage", labels.language),
            ("mtime", labels.modified.map { "\($0)" }),
        ].compactMap { name, value in value.map { TusMetadata(name, $0) } }
    }

    @Sendable private static func whereItWasMade(_ result: UploadResult) -> VerifyingDialogue.Place {
        VerifyingDialogue.Place(url: result.url, headers: [HeaderField("Tus-Resumable", "1.0.0")])
    }
}
