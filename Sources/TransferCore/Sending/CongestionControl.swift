/// The congestion control of the connections that send a body (tcp(7), TCP_CONGESTION).
public enum CongestionControl: Sendable, Hashable {
    /// The system's default. A connection that loses segments while its queue is empty gets BBR, where the kernel
    /// offers and permits it.
    case automatic
    /// The system's default, whatever the connection shows.
    case system
    /// The algorithm with this name in `net.ipv4.tcp_available_congestion_control`.
    case named(String)

    /// Parses a text.
    ///
    /// - Parameter text: The text `auto`, `system`, or the name of an algorithm.
    /// - Returns: `nil` for a text that cannot be a name for the kernel: 1 to 15 lower-case letters, digits, `-` and
    ///   `_`.
    public init?(_ text: String) {
        switch text {
        case "auto": self = .automatic
        case "system": self = .system
        default:
            // The constant TCP_CA_NAME_MAX is 16, including the zero at the end.
            guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy(Self.isOfName) else { return nil }
            self = .named(text)
        }
    }

    /// The text that ``init(_:)`` reads.
    public var text: String {
        switch self {
        case .automatic: "auto"
        case .system: "system"
        case .named(let name): name
        }
    }

    /// The algorithm for links that lose segments: it follows the rate of arrival, and does not interpret a single loss
    /// as a full queue.
    public static let forLosses = "bbr"

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
}

/// The congestion control of a connection while it sent, where it was not the system's default.
public struct CongestionUse: Sendable, Hashable {
    /// The reason for the choice.
    public enum Reason: Sendable, Hashable {
        /// The job requested the algorithm.
        case asked
        /// The share of segments that were retransmitted while the queue was empty.
        case losses(Double)
        /// Another connection to the same address lost segments recently.
        case lostBefore
        /// The kernel refused the algorithm, with this `errno`.
        case refused(Int32)
    }

    /// The name of the algorithm.
    public var name: String
    /// The reason for the choice.
    public var reason: Reason

    /// Creates a value.
    public init(name: String, reason: Reason) {
        self.name = name
        self.reason = reason
    }

    /// The use in words: `bbr: 1.2 % of the segments were lost on the way`.
    public var words: String {
        switch reason {
        case .asked: "\(name), as the job asks"
        case .losses(let share):
            "\(name): \(Int(share * 1000) / 10).\(Int(share * 1000) % 10) % of the segments were lost on the way"
        case .lostBefore: "\(name): the link lost segments of an earlier connection"
        // The numbers are EPERM, and ENOENT where the module is missing.
        case .refused(1):
            "the system's: \(name) is not allowed here (net.ipv4.tcp_allowed_congestion_control, or a locked route)"
        case .refused(2): "the system's: this kernel has no \(name) (net.ipv4.tcp_available_congestion_control)"
        case .refused(let code): "the system's: the kernel refused \(name) (errno \(code))"
        }
    }
}
