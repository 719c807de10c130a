import TransferCore
import TransferUpload

/// The uploads by the IETF draft: their entry in the registry.
enum ResumableUploads {
    /// An upload by the IETF draft "Resumable Uploads for HTTP".
    static let resumable: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "resumable", method: "POST", keys: ["chunkSize", "method"], hasURLPerFile: true, canBeAsked: true,
            dialogue: careful))

    @Sendable private static func careful(_ attempt: UploadAttempt) throws(TransferError) -> (any UploadDialogue)? {
        let isAccepted = attempt.state.map { ReceiptDialogue.isState($0) } ?? false
        return attempt.receipted(
            ResumableDialogue(
                source: attempt.source, options: try attempt.resumableOptions(.careful),
                state: isAccepted ? nil : attempt.state))
    }
}
