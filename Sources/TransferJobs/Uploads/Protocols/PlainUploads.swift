import TransferCore
import TransferUpload

/// The uploads in one request: their entries in the registry.
enum PlainUploads {
    /// An upload with the file as the body of one PUT request. Where the server offers resumable uploads (the IETF
    /// draft), they are used.
    static let put: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "put", method: "PUT", keys: ["createFolders", "chunkSize", "method", "success"],
            variant: { $0.createFolders ? putIntoFolders : nil }, putsIntoFolders: true, hasURLPerFile: true,
            isOneRequest: true, confirmsLostAnswers: true, hint: { MissingFolder.hint(for: $0, method: $1, url: $2) },
            dialogue: plain))

    /// An upload with the file as the body of one POST request, which is not repeated.
    static let post: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "post", method: "POST", keys: ["chunkSize", "method", "success"],
            variant: { $0.createFolders ? postIntoFolders : nil }, isOneRequest: true, dialogue: plain))

    /// An upload by `put` with `createFolders`, which creates missing folders (WebDAV's MKCOL).
    static let putIntoFolders: JobSpec.UploadProtocol = JobSpec.UploadProtocol(intoFolders(put.entry))

    /// An upload by POST that creates missing folders; a program may ask for it, a job file may not.
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

    /// Returns a dialogue that first asks whether an earlier attempt's file exists, and that requires a confirming
    /// response.
    ///
    /// - Parameter send: A closure that makes the dialogue of the transfer. It receives the options, where the server
    ///   is offered resumable uploads, and the state of an earlier attempt.
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
