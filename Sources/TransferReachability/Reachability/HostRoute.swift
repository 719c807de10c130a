import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// The way to one host: its name is looked up on a thread of its own, and the kernel asked for the route to what it
/// stands for.
final class HostRoute: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private enum Look: Sendable {
        /// This machine's own name.
        case loopback
        case never
        case failed
        case found([IPAddress])
    }

    private struct State {
        var look: Look
        var isLooking = false
        /// The network has changed while the name was being looked up.
        var mustLookAgain = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// The system's resolver blocks.
    private static let pool = WorkerPool(name: "reach-resolve", threads: 4)

    private let host: String
    private let resolve: @Sendable (String) -> [IPAddress]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - host: A name or an address, which may be in brackets.
    ///   - resolve: Returns nothing when the name is unknown; may block.
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

    /// Looks the name up, where that isn't known yet; the caller doesn't wait.
    ///
    /// - Parameter finished: Called on another thread when something new has come of it.
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

    /// - Parameters:
    ///   - snapshot: The network of the moment.
    ///   - ask: The kernel.
    func status(
        in snapshot: NetworkSnapshot, ask: (IPAddress) -> RouteQuery.Answer = { RouteQuery.ask($0) }
    ) -> Status {
        switch state.withLock({ $0.look }) {
        case .loopback: .reachable(.ethernetOrWiFi)
        // Without a network no name will be found.
        case .never: snapshot.status == .notReachable ? .notReachable : .unknown
        case .failed: snapshot.isKnown ? .notReachable : .unknown
        case .found(let addresses): Self.status(of: addresses, in: snapshot, ask)
        }
    }

    /// The best of a host's addresses.
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
                // A neighbour on the link needs no address of ours that leads further.
                guard let link = snapshot.link(route.link),
                    address.isLinkLocal ? link.isRunning : link.canCarry(IPVersion(of: address))
                else { continue }
                guard snapshot.kind(of: link.index) == .cellular else { return .reachable(.ethernetOrWiFi) }
                best = .reachable(.cellular)
            }
        }
        return best
    }

    /// As the system resolves names (getaddrinfo(3)).
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
