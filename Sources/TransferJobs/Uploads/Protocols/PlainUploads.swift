import TransferCore
import TransferUpload

/// The uploads in one request: their entry in the registry.
enum PlainUploads {
    /// The file is the body of one request. Where the server offers to resume it (the IETF draft), that is used.
    static let put: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "put", method: "PUT", keys: ["createFolders", "chunkSize", "method", "success"],
            variant: { $0.createFolders ? putIntoFolders : nil }, putsIntoFolders: true, hasURLPerFile: true,
            isOneRequest: true, confirmsLostAnswers: true, hint: { MissingFolder.hint(for: $0, method: $1, url: $2) },
            dialogue: plain))

    /// The same by POST, which isn't sent twice.
    static let post: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "post", method: "POST", keys: ["chunkSize", "method", "success"],
            variant: { $0.createFolders ? postIntoFolders : nil }, isOneRequest: true, dialogue: plain))

    /// `put` with `createFolders`: folders that are missing are made (WebDAV's MKCOL).
    static let putIntoFolders: JobSpec.UploadProtocol = JobSpec.UploadProtocol(intoFolders(put.entry))

    /// A program may ask for that; a job file may not.
    private static let postIntoFolders: JobSpec.UploadProtocol = JobSpec.UploadProtocol(intoFolders(post.entry))

    private static func intoFolders(_ plain: UploadEntry) -> UploadEntry {
        var entry = plain
        entry.variant = { _ in nil }
        entry.isOneRequest = false
        entry.hint = { _, _, _ in nil }
        entry.dialogue = makingFolders
        return entry
    }

    @Sendable private static func plain(_ attempt: UploadAttempt) throws(TransferError) -> (any UploadDialogue)? {
        try confirmed(attempt) { upgrade, state in
            upgrade.map { ResumableDialogue(source: attempt.source, options: $0, state: state) }
        }
    }

    @Sendable private static func makingFolders(
        _ attempt: UploadAttempt
    ) throws(TransferError) -> (any UploadDialogue)? {
        try confirmed(attempt) { upgrade, state in
            FolderMakingPut(
                url: attempt.upload.url, method: attempt.spec.method, source: attempt.source, upgrade: upgrade,
                state: state)
        }
    }

    /// An upload that asks first whether an earlier attempt's file is there, and is held to its receipt.
    ///
    /// - Parameter send: How the file is sent: with these options where the server is offered to resume it, and what an
    ///   earlier attempt left.
    private static func confirmed(
        _ attempt: UploadAttempt, _ send: (ResumableOptions?, UploadState?) -> (any UploadDialogue)?
    ) throws(TransferError) -> (any UploadDialogue)? {
        let (url, source, state) = (attempt.upload.url, attempt.source, attempt.state)
        if let state, ReceiptDialogue.isState(state) { return attempt.receipted(nil) }
        let asks = state.map { ConfirmingPut.isState($0) } ?? false
        let upgrade = try attempt.resumableOptions(.upgrade)
        let isOffered = source.size >= JobSpec.Upload.upgradeSize || state != nil && !asks
        var dialogue = send(isOffered ? upgrade : nil, asks ? nil : state)
        if asks, let state {
            let method = attempt.spec.method
            dialogue =
                ConfirmingPut(url: url, method: method, source: source, state: state, otherwise: dialogue) ?? dialogue
        }
        return dialogue.map { attempt.receipted($0) }
    }
}
