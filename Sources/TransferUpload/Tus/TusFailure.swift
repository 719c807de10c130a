import TransferCore

/// The failures of a tus upload, with their messages.
enum TusFailure {
    /// Returns the error of an answer without success for which the protocol has no other rule.
    static func refusal(_ head: ResponseHead, now: Int64) -> TransferError {
        var error = StatusRule.error(head, now: now)
        switch head.status {
        case 412:
            let versions = TusFeatures.list(head, "Tus-Version")
            error = unsupported(versions)
            error.cause = .http(status: 412)
        case 423:
            error = passing(
                "423 Locked: the server is still busy with an earlier request to the same upload",
                retryAfter: error.retryAfter)
        default: break
        }
        return error
    }

    static func unsupported(_ versions: [String]) -> TransferError {
        let spoken =
            versions.isEmpty ? "does not say which (no Tus-Version)" : "speaks \(versions.joined(separator: ", "))"
        return TransferError(.httpStatus, "the server does not speak tus \(TusFields.version); it \(spoken)")
    }

    static func tooLarge(_ size: Int64, limit: Int64?, status: Int?) -> TransferError {
        let limit = limit.map { "at most \(CountText.bytes($0)) (Tus-Max-Size)" } ?? "fewer (it does not say how many)"
        return TransferError(
            .httpStatus,
            "\(status.map { "\($0) \(StatusRule.reason($0)): " } ?? "")the file has \(CountText.bytes(size)); "
                + "the server takes \(limit)", cause: status.map { .http(status: $0) })
    }

    static func noNumber(_ field: String, _ text: String) -> TransferError {
        TransferError(.badResponse, "the server's \(field) is no number of bytes: \(quoted(text))")
    }

    /// Returns a temporary failure without a status, as its status does not show whether a new attempt makes sense.
    static func passing(_ message: String, retryAfter: Duration? = nil) -> TransferError {
        TransferError(.badResponse, message, isTransient: true, retryAfter: retryAfter)
    }

    static func mayBeFinished(_ url: String) -> TransferError {
        TransferError(
            .mayHaveBeenSent,
            "no answer came to the request that completes the upload to \(Redaction.url(url)), and tus has no way to "
                + "ask: the server may have the file")
    }

    /// Returns the failure of an upload that is gone after all its bytes were sent: servers may remove complete
    /// uploads.
    static func goneAtItsEnd(_ reason: String) -> TransferError {
        TransferError(
            .mayHaveBeenSent,
            "\(reason), and its last bytes had been sent: it may have arrived; \(CommandPhrases.retry) sends it again")
    }

    /// Returns the server's text, truncated to fit a line.
    static func quoted(_ text: String) -> String { String(text.prefix(80)).debugDescription }
}
