import TransferCore

/// The rule for the automatic repetition of a request when a reused connection is lost without an answer.
///
/// The connection may have been dead before, or the server may have taken the request before it died (RFC 9110 §9.2.2,
/// RFC 9112 §9.3.1).
struct RepeatRule {
    let method: String
    /// The setting ``ExchangeSettings/resendsBody``.
    let resendsBody: Bool

    /// Returns whether the request may be repeated.
    ///
    /// - Parameter bodyLeft: Whether a body may have arrived.
    func allows(_ bodyLeft: Bool) -> Bool {
        RetryRule.idempotentMethods.contains(method) && (!bodyLeft || resendsBody)
    }
}
