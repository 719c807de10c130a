/// An evaluator that works as a session without a manager: by the chain to a trusted authority, and by the host.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameter validateHost: Whether the certificate must be valid for the host.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    /// Evaluates the chain and, if required, the host.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` for a server that is not trusted.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try trust.af.verifiedChain(forHost: host)
        if validateHost { try trust.af.performValidation(forHost: host) }
    }
}

extension ServerTrustEvaluating where Self == DefaultTrustEvaluator {
    /// An evaluator of the chain and the host.
    public static var `default`: DefaultTrustEvaluator { DefaultTrustEvaluator() }

    /// Returns an evaluator of the chain and, if required, the host.
    public static func `default`(validateHost: Bool) -> DefaultTrustEvaluator {
        DefaultTrustEvaluator(validateHost: validateHost)
    }
}
