/// An evaluator that trusts every server, so that any machine on the route can read and change all data. It is for
/// experiments only.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Creates an evaluator.
    public init() {}

    /// Accepts every server.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}
