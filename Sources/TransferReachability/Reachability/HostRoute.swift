import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// The route to one host. Its name is resolved on a thread of its own, and the kernel is asked for the routes to the
/// addresses.
final class HostRoute: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private enum Look: Sendable {
        /// The host is this machine's own name.
        case loopback
        case never
        case failed
        case found([IPAddress])
    }

    private struct State {
        var look: Look
        var isLooking = false
        /// Whether the network has changed during the resolution of the name.
        var mustLookAgain = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// The threads for the system's resolver, which blocks.
    private static let pool = WorkerPool(name: "reach-resolve", threads: 4)

    private let host: String
    private let resolve: @Sendable (String) -> [IPAddress]
    private let state: Mutex<State>

    /// Creates the route to a host.
    ///
    /// - Parameters:
    ///   - host: A name or an address, with or without brackets.
    ///   - resolve: A closure that returns a name's addresses, or none for an unknown name; it may block.
    init(host: String, resolve: @escaping @Sendable (String) -> [IPAddress] = HostRoute.systemAddresses) {
        var host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        if host.hasSuffix("."), host.count > 1 { host.removeLast() }
        self.host = HostName.comparable(host)
        self.resolve = resolve
        let name = host.lowercased()
        let look: Look =
            if let address = IPAddress(host) {
                .found([address])
            } else if name == "localhost"
                || name.hasSuffix(".localhost")
            {
                .loopback
            } else { .never }
        state = Mutex(State(look: look))
    }

    /// Resolves the name, where it has not been resolved yet, without blocking the caller.
    ///
    /// - Parameter finished: A closure that is called on another thread when the result has changed.
    func lookUp(_ finished: @escaping @Sendable () -> Void = {}) {
        let mustStart = state.withLock { state in
            switch state.look {
            case .loopback, .found: return false
            case .never, .failed: break
            }
            state.waiting.append(finished)
            guard !state.isLooking else {
                state.mustLookAgain = true
                return false
            }
            state.isLooking = true
            return true
        }
        if mustStart { Self.pool.execute { [self] in look() } }
    }

    private func look() {
        var isLast = false
        while !isLast {
            let addresses = resolve(host)
            let finished = state.withLock { state in
                state.look = addresses.isEmpty ? .failed : .found(addresses)
                isLast = !addresses.isEmpty || !state.mustLookAgain
                state.mustLookAgain = false
                state.isLooking = !isLast
                let waiting = state.waiting
                if isLast { state.waiting = [] }
                return waiting
            }
            for finished in finished { finished() }
        }
    }

    /// Returns the status of the host.
    ///
    /// - Parameters:
    ///   - snapshot: The current network.
    ///   - ask: A closure that queries the kernel.
    func status(
        in snapshot: NetworkSnapshot, ask: (IPAddress) -> RouteQuery.Answer = { RouteQuery.ask($0) }
    ) -> Status {
        switch state.withLock({ $0.look }) {
        case .loopback: .reachable(.ethernetOrWiFi)
        // Without a network, no name can be resolved.
        case .never: snapshot.status == .notReachable ? .notReachable : .unknown
        case .failed: snapshot.isKnown ? .notReachable : .unknown
        case .found(let addresses): Self.status(of: addresses, in: snapshot, ask)
        }
    }

    /// Returns the best status among a host's addresses.
    static func status(
        of addresses: [IPAddress], in snapshot: NetworkSnapshot, _ ask: (IPAddress) -> RouteQuery.Answer
    ) -> Status {
        var best = Status.notReachable
        for address in addresses {
            if address.isLoopback { return .reachable(.ethernetOrWiFi) }
            switch ask(address) {
            case .unknown: if best == .notReachable { best = .unknown }
            case .unreachable: continue
            case .route(let route):
                if route.isLocal { return .reachable(.ethernetOrWiFi) }
                // A neighbour on the link can be reached without an address that reaches beyond the link.
                guard let link = snapshot.link(route.link),
                    address.isLinkLocal ? link.isRunning : link.canCarry(IPVersion(of: address))
                else { continue }
                guard snapshot.kind(of: link.index) == .cellular else { return .reachable(.ethernetOrWiFi) }
                best = .reachable(.cellular)
            }
        }
        return best
    }

    /// Returns the addresses from the system's resolver (getaddrinfo(3)).
    static func systemAddresses(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [IPAddress] = []
        var entry = list
        while let current = entry?.pointee {
            entry = current.ai_next
            guard let address = current.ai_addr else { continue }
            let offset = current.ai_family == AF_INET ? 4 : 8
            let count = current.ai_family == AF_INET ? 4 : 16
            guard current.ai_family == AF_INET || current.ai_family == AF_INET6,
                Int(current.ai_addrlen) >= offset + count
            else { continue }
            let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset, count: count)
            if let address = IPAddress(bytes: Array(bytes)), !found.contains(address) { found.append(address) }
        }
        return found
    }
}
