import Glibc

/// Days by the local time zone, as ISO 8601 writes them.
public enum LocalDate {
    /// - Parameter seconds: Since 1 January 1970, UTC.
    /// - Returns: Such as `2026-03-01`.
    public static func iso(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let year = String(Int(parts.tm_year) + 1900)
        return String(repeating: "0", count: max(0, 4 - year.count)) + year
            + "-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    public static var today: String { iso(Int64(time(nil))) }
}
