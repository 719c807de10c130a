/// An evaluator that combines several evaluators, all of which have to accept the server.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator.
    ///
    /// - Parameter evaluators: The evaluators, called one after the other.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Calls the evaluators in their order.
    ///
    /// - Throws: The error of the first evaluator that refuses the server.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try evaluators.evaluate(trust, forHost: host)
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// Returns an evaluator that combines several, all of which have to accept the server.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}
