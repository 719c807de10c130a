import CTransferNetlink
public import TransferCore

/// The route by which the kernel would send packets to an address (`RTM_GETROUTE`, as in `ip route get`).
public struct Route: Sendable, Hashable {
    /// The destination address.
    public var destination: IPAddress
    /// The index of the route's link; that of the loopback for this machine's own addresses.
    public var link: Int
    /// The gateway; `nil` where the destination is reached over the link itself.
    public var gateway: IPAddress?
    /// The source address of the packets; `nil` where it is not determined.
    public var source: IPAddress?
    /// The metric of the route.
    public var metric: UInt32
    /// The routing table of the route; 254 is `main`.
    public var table: UInt32
    /// Whether the destination is this machine itself.
    public var isLocal: Bool

    init?(to destination: IPAddress, _ message: RouteMessage) {
        guard let hop = message.hops.first, [RTN_UNICAST, RTN_LOCAL].contains(Int(message.type)) else { return nil }
        self.destination = destination
        link = hop.link
        gateway = hop.gateway
        source = message.source
        metric = message.metric
        table = message.table
        isLocal = Int(message.type) == RTN_LOCAL
    }
}

/// Queries to the kernel for single routes.
enum RouteQuery {
    enum Answer: Sendable, Hashable {
        case route(Route)
        /// There is no route.
        case unreachable
        /// The kernel could not be asked.
        case unknown
    }

    static func ask(_ destination: IPAddress, over link: Int? = nil) -> Answer {
        guard let socket = NetlinkSocket() else { return .unknown }
        // If a link is given, the kernel treats every address outside its tables as a neighbour on the link. The tables
        // must therefore be queried separately.
        if link != nil, !destination.isVersion6, !destination.isLoopback {
            let match = ask(socket, .route(to: destination, over: link, isMatch: true, sequence: 1))
            guard case .message(let message) = match else { return match.answer(destination) }
            if let link, Int(message.type) != RTN_LOCAL, !message.hops.contains(where: { $0.link == link }) {
                return .unreachable
            }
        }
        return ask(socket, .route(to: destination, over: link, isMatch: false, sequence: 2)).answer(destination)
    }

    private enum Reply {
        case message(RouteMessage)
        case refused
        case unknown

        func answer(_ destination: IPAddress) -> Answer {
            switch self {
            case .message(let message): Route(to: destination, message).map { .route($0) } ?? .unreachable
            case .refused: .unreachable
            case .unknown: .unknown
            }
        }
    }

    private static func ask(_ socket: NetlinkSocket, _ request: NetlinkRequest) -> Reply {
        guard socket.send(request) else { return .unknown }
        while case .frames(let frames) = socket.receive(within: 1000) {
            for frame in frames {
                switch frame.message {
                case .route(let route, _): return .message(route)
                case .error(let code) where code != 0: return .refused
                default: break
                }
            }
        }
        return .unknown
    }
}

extension NetworkMonitor {
    /// Returns the route by which the kernel would send packets to an address. It takes one or two system calls on the
    /// caller's thread.
    ///
    /// - Parameter link: The index of the only permitted link (`SO_BINDTODEVICE`, socket(7)); `nil` permits any.
    /// - Returns: `nil` where there is no route, and where the kernel cannot be asked.
    public func route(to destination: IPAddress, over link: Int? = nil) -> Route? {
        guard case .route(let route) = RouteQuery.ask(destination, over: link) else { return nil }
        return route
    }
}
