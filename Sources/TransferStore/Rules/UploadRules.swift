package import TransferCore

/// Rules for jobs with a partial upload on a server.
package enum UploadRules {
    /// The error of a job whose process ended while a body that must not be sent twice was being sent.
    package static let interrupted = TransferError(
        .mayHaveBeenSent,
        "the program ended while the body was being sent, and it may have arrived; \(CommandPhrases.retry) sends it again"
    )
}
