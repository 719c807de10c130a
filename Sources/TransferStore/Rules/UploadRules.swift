package import TransferCore

/// Rules for jobs whose upload was left behind in part.
package enum UploadRules {
    /// A body that mustn't be sent twice was on its way when its process ended.
    package static let interrupted = TransferError(
        .mayHaveBeenSent,
        "the program ended while the body was being sent, and it may have arrived; \(CommandPhrases.retry) sends it again"
    )
}
