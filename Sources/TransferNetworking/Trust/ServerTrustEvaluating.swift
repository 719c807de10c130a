/// Decides whether a server is who it says it is.
@preconcurrency
public protocol ServerTrustEvaluating: Sendable {
    /// Called within the TLS handshake, before a byte of a request is sent. It runs on a thread of its own that may
    /// block (for a fetch, for a user): meanwhile only this connection waits.
    ///
    /// - Parameters:
    ///   - trust: What the server showed.
    ///   - host: The host of the URL, without its port.
    /// - Throws: When the server is not to be trusted. `AFError.serverTrustEvaluationFailed` reaches the request as
    ///   it is, other errors in its `customEvaluationFailed`.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

extension [any ServerTrustEvaluating] {
    /// Asks all of them, one after the other.
    ///
    /// - Throws: The error of the first that refuses.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}
