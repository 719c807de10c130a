import CTransferNetlink
public import TransferCore

/// The way that the kernel would send something to an address (`RTM_GETROUTE`, as `ip route get`).
public struct Route: Sendable, Hashable {
    public var destination: IPAddress
    /// The index of the link that it goes over; the loopback's for what is this machine's own.
    public var link: Int
    /// `nil` when the destination is reached over the link itself.
    public var gateway: IPAddress?
    /// The address that it would come from.
    public var source: IPAddress?
    public var metric: UInt32
    /// The routing table that says so; 254 is `main`.
    public var table: UInt32
    /// The destination is this machine itself.
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

/// Questions to the kernel about single routes.
enum RouteQuery {
    enum Answer: Sendable, Hashable {
        case route(Route)
        /// There is none.
        case unreachable
        /// The kernel couldn't be asked.
        case unknown
    }

    static func ask(_ destination: IPAddress, over link: Int? = nil) -> Answer {
        guard let socket = NetlinkSocket() else { return .unknown }
        // Asked for a link, the kernel takes everything that is in no table for a neighbour on it: what the tables say
        // has to be asked for by itself.
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
    /// The way that the kernel would send something to an address, asked for at once: a system call or two, on the
    /// caller's thread.
    ///
    /// - Parameter link: The index of the only link that it may go over (`SO_BINDTODEVICE`, socket(7)); any when `nil`.
    /// - Returns: `nil` when there is none, and also where the kernel can't be asked.
    public func route(to destination: IPAddress, over link: Int? = nil) -> Route? {
        guard case .route(let route) = RouteQuery.ask(destination, over: link) else { return nil }
        return route
    }
}
