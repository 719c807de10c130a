import Glibc

/// Functions for dates in HTTP's format (IMF-fixdate, RFC 9110, section 5.6.7), in seconds since 1970.
public enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns a time in seconds since 1970 as an HTTP date.
    public static func string(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        // The function strftime is unsuitable, since its names depend on the locale of the process.
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        let year = Int(parts.tm_year) + 1900
        return
            "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(year) \(clock) GMT"
    }

    /// Parses an HTTP date.
    ///
    /// - Returns: The time in seconds since 1970; `nil` for another text.
    public static func seconds(_ text: String) -> Int? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT" else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3, let day = Int32(words[1]), let year = Int32(words[3]),
            let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        var parts = tm()
        parts.tm_mday = day
        parts.tm_mon = Int32(month)
        parts.tm_year = year - 1900
        parts.tm_hour = clock[0]
        parts.tm_min = clock[1]
        parts.tm_sec = clock[2]
        return timegm(&parts)
    }

    static var now: String { string(time(nil)) }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
