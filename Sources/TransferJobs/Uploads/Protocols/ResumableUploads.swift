import TransferCore
import TransferUpload

/// The uploads of the IETF's draft: their entry in the registry.
enum ResumableUploads {
    /// Resumable Uploads for HTTP, an IETF draft.
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
