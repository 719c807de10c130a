import TransferCore

// Errors for a request that must not be repeated and whose outcome is unknown.
extension TransferError {
    static func unanswered(_ error: TransferError, method: String) -> TransferError {
        TransferError(
            .mayHaveBeenSent,
            "\(error.message); \(method) is not repeated, because it may have arrived; \(CommandPhrases.retry) sends it again",
            cause: error.cause)
    }

    static var stoppedWhileSending: TransferError {
        TransferError(
            .mayHaveBeenSent,
            "the transfer was stopped while the body was being sent, and it may have arrived; "
                + "\(CommandPhrases.retry) sends it again")
    }
}
