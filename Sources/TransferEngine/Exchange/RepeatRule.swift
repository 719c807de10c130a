import TransferCore

/// Whether a request goes out once more by itself, where a connection that was used before is lost without an answer: it
/// may have been dead before, or have taken the request and died then (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
struct RepeatRule {
    let method: String
    /// ``ExchangeSettings/resendsBody``
    let resendsBody: Bool

    /// - Parameter bodyLeft: Whether a body may have arrived.
    func allows(_ bodyLeft: Bool) -> Bool {
        RetryRule.idempotentMethods.contains(method) && (!bodyLeft || resendsBody)
    }
}
