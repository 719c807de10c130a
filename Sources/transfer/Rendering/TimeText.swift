import Glibc

/// Points in time, from milliseconds since 1970.
enum TimeText {
    /// `2026-11-20T02:00:00`, in the machine's time zone.
    static func local(_ milliseconds: Int64) -> String {
        var seconds = time_t(floorDivide(milliseconds, 1000))
        var fields = tm()
        guard localtime_r(&seconds, &fields) != nil else { return utc(milliseconds) }
        return
            "\(padded(Int64(fields.tm_year) + 1900, 4))-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))"
            + "T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
    }

    /// `2026-11-20T02:00:00.123Z` (RFC 3339).
    static func utc(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        appendUTC(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func appendUTC(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let seconds = floorDivide(milliseconds, 1000)
        let days = floorDivide(seconds, 86_400)
        let second = seconds - days * 86_400
        let (year, month, day) = civil(days)
        append(year, 4, &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(month, 2, &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(day, 2, &bytes)
        bytes.append(UInt8(ascii: "T"))
        append(second / 3600, 2, &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(second / 60 % 60, 2, &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(second % 60, 2, &bytes)
        bytes.append(UInt8(ascii: "."))
        append(milliseconds - seconds * 1000, 3, &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Days since 1970 to a date of the Gregorian calendar, in eras of 400 years that begin on 1 March.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static func append(_ value: Int64, _ width: Int, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: padded(value, width).utf8)
    }

    private static func two(_ value: Int32) -> String { padded(Int64(value), 2) }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }
}
