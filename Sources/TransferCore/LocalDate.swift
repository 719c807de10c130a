import Glibc

/// Dates in the local time zone, in the format of ISO 8601.
public enum LocalDate {
    /// Returns the date at a time.
    ///
    /// - Parameter seconds: The time in seconds since 1 January 1970, UTC.
    /// - Returns: A text such as `2026-03-01`.
    public static func iso(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let year = String(Int(parts.tm_year) + 1900)
        return String(repeating: "0", count: max(0, 4 - year.count)) + year
            + "-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    /// The current date.
    public static var today: String { iso(Int64(time(nil))) }
}
