/// Trusts every server, so that anybody on the way can read and change everything. For experiments only.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    public init() {}

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}
