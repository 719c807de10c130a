/// A permanent line: in a log file, in the journal, or above the live screen.
struct LogLine: Sendable, Hashable {
    enum Level: Int, Sendable, Hashable, Comparable {
        /// The levels; the numbers are syslog's (RFC 5424 §6.2.1), which journald reads: sd-daemon(3).
        case error = 3
        case warn = 4
        case info = 6

        static func < (left: Level, right: Level) -> Bool { left.rawValue > right.rawValue }

        var name: String {
            switch self {
            case .error: "error"
            case .warn: "warn"
            case .info: "info"
            }
        }
    }

    var level: Level
    /// The time in milliseconds since 1970.
    var time: Int64
    /// The text, fit to be shown: names in it have passed `Charset.visible`.
    var text: String
    /// Whether `--quiet` shows it too: without a person nothing changes, as at a full disk.
    var needsPerson = false
}

/// The destination of log lines, which determines their prefix.
enum LogFormat: Sendable, Hashable {
    /// A file: `2026-11-20T02:00:00 info …`
    case file
    /// The journal: `<6>…`; it records the time itself.
    case journal
    /// A terminal, above the live screen, where no time is needed.
    case terminal

    func line(_ line: LogLine) -> StyledLine {
        switch self {
        case .file: return StyledLine("\(TimeText.local(line.time)) \(line.level.name) \(line.text)")
        case .journal: return StyledLine("<\(line.level.rawValue)>\(line.text)")
        case .terminal:
            guard line.level != .info else { return StyledLine(line.text) }
            var styled = StyledLine(line.level.name, line.level == .error ? .bad : .warning)
            styled.append(" " + line.text)
            return styled
        }
    }

    /// Returns a report of several lines: the first as a line of the log, the others unchanged.
    func report(_ lines: [StyledLine], level: LogLine.Level, time: Int64) -> [StyledLine] {
        guard let first = lines.first else { return [] }
        switch self {
        case .file: return [line(LogLine(level: level, time: time, text: first.text))] + lines.dropFirst()
        case .journal:
            // The journal drops empty lines, and gives lines without a priority one that may be filtered out.
            return lines.filter { $0.width > 0 }.map { line(LogLine(level: level, time: time, text: $0.text)) }
        case .terminal: return lines
        }
    }
}
