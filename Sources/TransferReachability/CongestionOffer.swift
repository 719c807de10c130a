import Glibc

/// The congestion control algorithms of this machine's kernel, for display.
public struct CongestionOffer: Sendable, Hashable {
    /// The system's default algorithm.
    public var standard: String
    /// The algorithms that the kernel has loaded.
    public var available: [String]
    /// The algorithms that an unprivileged process may choose.
    public var allowed: [String]

    /// Creates an offer.
    public init(standard: String, available: [String], allowed: [String]) {
        self.standard = standard
        self.available = available
        self.allowed = allowed
    }

    /// The offer of the running kernel; `nil` where the kernel does not report it.
    public static var current: CongestionOffer? {
        let names = ["tcp_congestion_control", "tcp_available_congestion_control", "tcp_allowed_congestion_control"]
        let texts = names.map { words("/proc/sys/net/ipv4/\($0)") }
        guard let standard = texts[0].first, !texts[1].isEmpty else { return nil }
        return CongestionOffer(standard: standard, available: texts[1], allowed: texts[2])
    }

    private static func words(_ path: String) -> [String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}
