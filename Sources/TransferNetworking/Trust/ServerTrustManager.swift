import TransferCore

/// The choice of the evaluator for each host.
///
/// Hosts are compared as a whole. For wildcards, a subclass overrides ``serverTrustEvaluator(forHost:)``.
///
/// `@unchecked Sendable`, as an open class: its properties are constant, and those of a subclass have to be.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused. Otherwise such a host is evaluated as without a manager.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, without a port.
    public let evaluators: [String: any ServerTrustEvaluating]
    private let normalized: [String: any ServerTrustEvaluating]

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a host without an evaluator is refused.
    ///   - evaluators: The evaluators by host, without a port. Capitals are ignored (RFC 9110 §4.2.3), and an
    ///     international name may be written in its letters or in ASCII.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        normalized = Dictionary(evaluators.map { (Self.normal($0.key), $0.value) }, uniquingKeysWith: { one, _ in one })
    }

    /// Alamofire 4's choice of a policy; unavailable.
    @available(*, unavailable, message: "override serverTrustEvaluator(forHost:)")
    open func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? { nil }

    /// Returns the evaluator of a host. Called for each TLS connection, on any thread.
    ///
    /// - Returns: `nil` where the host is evaluated as without a manager.
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `noRequiredEvaluator` where every host must have an
    ///   evaluator.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] ?? normalized[Self.normal(host)] { return evaluator }
        guard !allHostsMustBeEvaluated else {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// Returns the host in ASCII, without the root's dot and an IPv6 address's brackets: `localhost.` becomes
    /// `localhost`.
    private static func normal(_ host: String) -> String {
        if host.hasPrefix("["), host.hasSuffix("]") { return host.dropFirst().dropLast().lowercased() }
        let host = HostName.comparable(host)
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
