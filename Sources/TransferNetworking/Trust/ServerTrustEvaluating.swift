/// An evaluator that decides whether a server is trusted.
@preconcurrency
public protocol ServerTrustEvaluating: Sendable {
    /// Evaluates a server within the TLS handshake, before a byte of a request is sent. The call runs on a thread of
    /// its own that may block (for a fetch, for a user). Only this connection waits meanwhile.
    ///
    /// - Parameters:
    ///   - trust: The certificates that the server sent.
    ///   - host: The host of the URL, without its port.
    /// - Throws: An error for a server that is not trusted. The request reports `AFError.serverTrustEvaluationFailed`
    ///   unchanged, and other errors in its `customEvaluationFailed`.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

extension [any ServerTrustEvaluating] {
    /// Calls all evaluators, one after the other.
    ///
    /// - Throws: The error of the first evaluator that refuses the server.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}
