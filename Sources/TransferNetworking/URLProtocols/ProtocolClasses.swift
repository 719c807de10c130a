import Foundation
import FoundationNetworking

/// The `URLProtocol` classes of a session, which carry the requests that they claim.
struct ProtocolClasses: Sendable {
    private let classes: [URLProtocol.Type]

    /// - Returns: `nil` without classes, so that requests have no costs.
    init?(_ classes: [URLProtocol.Type]) {
        guard !classes.isEmpty else { return nil }
        self.classes = classes
    }

    /// Returns the first class that claims the task. Calls the program's code.
    func first(for task: URLSessionTask) -> URLProtocol.Type? { classes.first { $0.canInit(with: task) } }

    /// Returns the program's classes of a configuration, without Foundation's own ones for the network.
    static func own(of configuration: URLSessionConfiguration) -> [URLProtocol.Type] {
        (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
            .filter { !String(reflecting: $0).hasPrefix("FoundationNetworking.") }
    }
}

/// The class that carries an attempt in place of the network, and the request that it receives.
struct ProtocolClaim: Sendable {
    let type: URLProtocol.Type
    let request: URLRequest
}
