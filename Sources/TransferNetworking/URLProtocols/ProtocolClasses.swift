import Foundation
import FoundationNetworking

/// The `URLProtocol` classes of a session, which carry the requests that they say they can.
struct ProtocolClasses: Sendable {
    private let classes: [URLProtocol.Type]

    /// - Returns: `nil` where there are none, which costs a request nothing.
    init?(_ classes: [URLProtocol.Type]) {
        guard !classes.isEmpty else { return nil }
        self.classes = classes
    }

    /// The first class that takes the task. Calls the program's code.
    func first(for task: URLSessionTask) -> URLProtocol.Type? { classes.first { $0.canInit(with: task) } }

    /// The program's own classes: a configuration also lists those by which Foundation itself reaches the network.
    static func own(of configuration: URLSessionConfiguration) -> [URLProtocol.Type] {
        (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
            .filter { !String(reflecting: $0).hasPrefix("FoundationNetworking.") }
    }
}

/// Who carries an attempt instead of the network, and what it's shown.
struct ProtocolClaim: Sendable {
    let type: URLProtocol.Type
    let request: URLRequest
}
