/// Functions for dates in the three forms of RFC 9110 §5.6.7, as seconds since 1970.
public enum HTTPDate {
    /// Parses a date.
    ///
    /// - Returns: `nil` for a text that is not IMF-fixdate, RFC 850 or asctime.
    /// - Parameter now: The current time, which determines the century of RFC 850's two-digit years.
    public static func parse(_ text: some StringProtocol, now: Int64 = 1_800_000_000) -> Int64? {
        if let seconds = fixed(text) { return seconds }
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        if words.count == 5, words[3].contains(":") {
            // The form of asctime: Sun Nov  6 08:49:37 1994.
            return date(day: words[2], month: words[1], year: Int(words[4]), time: words[3])
        }
        guard words.count == 6, words[5] == "GMT" || words[5] == "UTC" else { return nil }
        var year = Int(words[3])
        if words[3].count == 2, let short = year {
            let century = Int((now / 31_556_952 + 1970) / 100 * 100)
            // A year more than fifty years ahead means the past year with the same digits.
            year = century + short > Int(now / 31_556_952 + 1970) + 50 ? century + short - 100 : century + short
        }
        return date(day: words[1], month: words[2], year: year, time: words[4])
    }

    /// Returns a date as IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func format(_ seconds: Int64) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let (year, month, day) = CivilDate.date(ofDay: days)
        let weekday = weekdays[Int(((days + 4) % 7 + 7) % 7)]
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { two($0) }.joined(separator: ":")
        return "\(weekday), \(two(Int64(day))) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// Returns a time in UTC as in FTP's commands (RFC 3659 §2.3): `19941106084937`.
    public static func digits(_ seconds: Int64) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let (year, month, day) = CivilDate.date(ofDay: days)
        let date = Int64(year) * 10_000 + Int64(month * 100 + day)
        return "\(date)" + [rest / 3600, rest / 60 % 60, rest % 60].map { two($0) }.joined()
    }

    /// Parses IMF-fixdate, the form of nearly all servers, in which every field has a fixed position.
    private static func fixed(_ text: some StringProtocol) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[26...].elementsEqual("GMT".utf8),
            let month = months.firstIndex(where: { bytes[8..<11].elementsEqual($0.utf8) }),
            [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == 0x20 }), bytes[19] == 0x3A, bytes[22] == 0x3A
        else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].reduce(0) { value, byte -> Int? in
                guard let value, (0x30...0x39).contains(byte) else { return nil }
                return value * 10 + Int(byte - 0x30)
            }
        }
        guard let day = number(5..<7), let year = number(12..<16), let hours = number(17..<19),
            let minutes = number(20..<22), let seconds = number(23..<25),
            (1...31).contains(day), year >= 1600, hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        return CivilDate.day(year: year, month: month + 1, day: day) * 86_400
            + Int64(hours * 3600 + minutes * 60 + seconds)
    }

    private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

    private static func date(
        day: some StringProtocol, month: some StringProtocol, year: Int?, time: some StringProtocol
    ) -> Int64? {
        let clock = time.split(separator: ":").map { Int64($0) }
        guard let day = Int(day), (1...31).contains(day), let month = months.firstIndex(of: String(month)),
            let year, (1600...9999).contains(year), clock.count == 3,
            let hours = clock[0], let minutes = clock[1], let seconds = clock[2],
            (0...23).contains(hours), (0...59).contains(minutes), (0...60).contains(seconds)
        else { return nil }
        return CivilDate.day(year: year, month: month + 1, day: day) * 86_400 + hours * 3600 + minutes * 60 + seconds
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
}
