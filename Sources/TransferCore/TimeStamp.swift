/// Times in the format of RFC 3339: in UTC, with milliseconds.
package enum TimeStamp {
    /// Returns a text such as `2026-11-20T02:00:00.123Z`.
    ///
    /// - Parameter milliseconds: The time in milliseconds since 1970.
    package static func text(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        append(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let day = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = milliseconds - day * 86_400_000
        let date = CivilDate.date(ofDay: day)
        append(Int64(date.year), 4, "-", &bytes)
        append(Int64(date.month), 2, "-", &bytes)
        append(Int64(date.day), 2, "T", &bytes)
        append(rest / 3_600_000, 2, ":", &bytes)
        append(rest / 60_000 % 60, 2, ":", &bytes)
        append(rest / 1000 % 60, 2, ".", &bytes)
        append(rest % 1000, 3, "Z", &bytes)
    }

    private static func append(_ value: Int64, _ width: Int, _ next: Unicode.Scalar, _ bytes: inout [UInt8]) {
        let digits = String(value).utf8
        for _ in digits.count..<max(width, digits.count) { bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: digits)
        bytes.append(UInt8(ascii: next))
    }
}
