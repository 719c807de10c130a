import TransferCore

/// The choice of the evaluator for each host.
///
/// Hosts are compared whole: for wildcards override ``serverTrustEvaluator(forHost:)``.
///
/// `@unchecked Sendable`, as an open class: all of it is constant; a subclass has to keep to that.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused; else it's judged as if there were no manager.
    public let allHostsMustBeEvaluated: Bool
    /// By host, without a port.
    public let evaluators: [String: any ServerTrustEvaluating]
    private let normalized: [String: any ServerTrustEvaluating]

    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a host without an evaluator is refused.
    ///   - evaluators: By host, without a port; capital letters don't matter (RFC 9110 §4.2.3), nor whether
    ///     an international name is written in its letters or in ASCII.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        normalized = Dictionary(evaluators.map { (Self.normal($0.key), $0.value) }, uniquingKeysWith: { one, _ in one })
    }

    @available(*, unavailable, message: "override serverTrustEvaluator(forHost:)")
    open func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? { nil }

    /// The evaluator of a host. Called for each TLS connection, on any thread.
    ///
    /// - Returns: `nil` where the host is judged as if there were no manager.
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `noRequiredEvaluator` where every host must have one.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] ?? normalized[Self.normal(host)] { return evaluator }
        guard !allHostsMustBeEvaluated else {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// In ASCII, without the root's dot and the brackets of an IPv6 address: `localhost.` is `localhost`.
    private static func normal(_ host: String) -> String {
        if host.hasPrefix("["), host.hasSuffix("]") { return host.dropFirst().dropLast().lowercased() }
        let host = HostName.comparable(host)
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
