import Glibc
import TransferCore
import TransferQueue

/// Points in time, from milliseconds since 1970.
enum TimeText {
    /// Returns a time such as `2026-11-20T02:00:00`, in the machine's time zone.
    static func local(_ milliseconds: Int64) -> String {
        var seconds = time_t(floorDivide(milliseconds, 1000))
        var fields = tm()
        guard localtime_r(&seconds, &fields) != nil else { return TimeStamp.text(milliseconds) }
        return
            "\(padded(Int64(fields.tm_year) + 1900, 4))-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))"
            + "T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
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
