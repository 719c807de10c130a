/// Judges as a session without a manager does: by the chain up to a trusted authority, and by the host.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// - Parameter validateHost: Whether the certificate must be for the host.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try trust.af.verifiedChain(forHost: host)
        if validateHost { try trust.af.performValidation(forHost: host) }
    }
}

extension ServerTrustEvaluating where Self == DefaultTrustEvaluator {
    /// Judges by the chain and the host.
    public static var `default`: DefaultTrustEvaluator { DefaultTrustEvaluator() }

    /// Judges by the chain and, where wanted, the host.
    public static func `default`(validateHost: Bool) -> DefaultTrustEvaluator {
        DefaultTrustEvaluator(validateHost: validateHost)
    }
}
