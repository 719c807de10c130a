/// The congestion control of the connections that send a body (tcp(7), TCP_CONGESTION).
public enum CongestionControl: Sendable, Hashable {
    /// The system's own. A connection that loses segments while its queue is empty gets BBR, where the kernel offers and
    /// allows that.
    case automatic
    /// The system's own, whatever the connection shows.
    case system
    /// The algorithm of this name, as `net.ipv4.tcp_available_congestion_control` lists it.
    case named(String)

    /// - Parameter text: `auto`, `system`, or the name of an algorithm.
    /// - Returns: `nil` for text that the kernel takes for no name: 1 to 15 lower-case letters, digits, `-` and `_`.
    public init?(_ text: String) {
        switch text {
        case "auto": self = .automatic
        case "system": self = .system
        default:
            // TCP_CA_NAME_MAX is 16, with the zero at the end.
            guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy(Self.isOfName) else { return nil }
            self = .named(text)
        }
    }

    /// The form that ``init(_:)`` reads.
    public var text: String {
        switch self {
        case .automatic: "auto"
        case .system: "system"
        case .named(let name): name
        }
    }

    /// The algorithm for links that lose segments: it goes by the rate that arrives, and takes no single loss for a full
    /// queue.
    public static let forLosses = "bbr"

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
}

/// The congestion control that a connection had while it sent, where it was not simply the system's.
public struct CongestionUse: Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// The job asked for it.
        case asked
        /// The share of the segments that had to be sent again while the queue was empty.
        case losses(Double)
        /// Another connection to the same address lost segments a short time ago.
        case lostBefore
        /// The kernel refused it: `errno`.
        case refused(Int32)
    }

    public var name: String
    public var reason: Reason

    public init(name: String, reason: Reason) {
        self.name = name
        self.reason = reason
    }

    /// For people: `bbr: 1.2 % of the segments were lost on the way`.
    public var words: String {
        switch reason {
        case .asked: "\(name), as the job asks"
        case .losses(let share):
            "\(name): \(Int(share * 1000) / 10).\(Int(share * 1000) % 10) % of the segments were lost on the way"
        case .lostBefore: "\(name): the link lost segments of an earlier connection"
        // EPERM, and ENOENT where the module isn't there.
        case .refused(1):
            "the system's: \(name) is not allowed here (net.ipv4.tcp_allowed_congestion_control, or a locked route)"
        case .refused(2): "the system's: this kernel has no \(name) (net.ipv4.tcp_available_congestion_control)"
        case .refused(let code): "the system's: the kernel refused \(name) (errno \(code))"
        }
    }
}
