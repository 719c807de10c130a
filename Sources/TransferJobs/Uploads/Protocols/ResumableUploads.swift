import TransferCore
import TransferUpload

extension JobSpec.UploadProtocol {
    /// Resumable Uploads for HTTP, an IETF draft.
    public static let resumable: Self = Self(
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
