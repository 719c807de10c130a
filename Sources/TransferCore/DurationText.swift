/// Durations as people write and read them: `"30s"`, `"5m"`, `"1h30m"`, `"250ms"`, `"7d"`; a plain number is seconds.
public enum DurationText {
    /// - Returns: The duration, or `nil` when the text is none, or one of more than a century, which no clock here can add
    ///   to the time.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        read(text).flatMap { $0 <= .seconds(100 * 31_556_952) ? $0 : nil }
    }

    private static func read(_ text: some StringProtocol) -> Duration? {
        // Double reads hexadecimal, exponents and "inf" too.
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }), let seconds = Double(text) {
            return seconds < 1e12 ? .milliseconds(Int64(seconds * 1000)) : nil
        }
        var rest = Substring(text)
        guard !rest.isEmpty else { return nil }
        var total = Duration.zero
        while !rest.isEmpty {
            let number = rest.prefix { $0.isNumber || $0 == "." }
            guard let value = Double(number), value < 1e9 else { return nil }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { $0.isLetter }
            guard let milliseconds = millisecondsPerUnit[String(unit)] else { return nil }
            rest = rest.dropFirst(unit.count)
            total += .milliseconds(Int64(value * milliseconds))
        }
        return total
    }

    /// `0:08`, `9:06`, `1:02:03`: a clock, for a column on a terminal.
    public static func clock(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        return hours > 0 ? "\(hours):\(pad(minutes)):\(pad(rest))" : "\(minutes):\(pad(rest))"
    }

    /// `8 s`, `11m 42s`, `2h 05m`, `3d 04h`: the two largest units, for a sentence.
    public static func words(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<60:
            let tenths = duration.components.attoseconds / 100_000_000_000_000_000
            return seconds < 10 && tenths > 0 ? "\(seconds).\(tenths) s" : "\(seconds) s"
        case ..<3600: return "\(seconds / 60)m \(pad(seconds % 60))s"
        case ..<86_400: return "\(seconds / 3600)h \(pad(seconds / 60 % 60))m"
        default: return "\(seconds / 86_400)d \(pad(seconds / 3600 % 24))h"
        }
    }

    private static func pad(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

    private static let millisecondsPerUnit: [String: Double] = [
        "ms": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
        "w": 604_800_000,
    ]
}

extension Duration {
    /// The duration in seconds, as a fraction.
    public var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    /// - Parameter seconds: To the millisecond; what no duration can be is the nearest that can.
    package init(declaredSeconds seconds: Double) {
        let bounded = seconds.isFinite ? min(max(0, seconds), 1e12) : 0
        self = .milliseconds(Int64((bounded * 1000).rounded()))
    }

    /// The duration in whole milliseconds, rounded up, never below zero; saturates instead of overflowing.
    public var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64.max / 1000 else { return .max }
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
