import Glibc
import TransferCore

/// A moment by the system's clock, which can be set, in milliseconds since 1970.
package struct WallTime: Sendable, Hashable, Comparable, Codable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package init(seconds: Int64) { milliseconds = seconds * 1000 }

    /// The time in whole seconds, rounded down.
    package var seconds: Int64 { (milliseconds - (milliseconds < 0 ? 999 : 0)) / 1000 }

    package static let secondsPerDay: Int64 = 86_400

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// Returns the moment after a duration, limited to the largest value instead of overflowing.
    package static func + (left: Self, right: Duration) -> Self {
        let (sum, overflew) = left.milliseconds.addingReportingOverflow(right.inMilliseconds)
        return Self(milliseconds: overflew ? .max : sum)
    }
}

/// The time that a local clock shows, as the number of seconds since 1970 if that clock showed UTC.
package struct LocalTime: Sendable, Hashable {
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }
    package init(day: Int64) { seconds = day * WallTime.secondsPerDay }

    /// The days since 1970.
    package var day: Int64 { (seconds - (seconds < 0 ? WallTime.secondsPerDay - 1 : 0)) / WallTime.secondsPerDay }
    /// The hours since 1970.
    package var hour: Int64 { day * 24 + secondOfDay / 3600 }
    package var minute: Int { Int(secondOfDay / 60) }
    /// The day of the week, where Monday is 0; 1 January 1970 was a Thursday.
    package var weekday: Int { Int(((day + 3) % 7 + 7) % 7) }

    private var secondOfDay: Int64 { seconds - day * WallTime.secondsPerDay }
}

/// A time zone: the offset of its clocks from UTC at each moment.
package struct LocalZone: Sendable {
    /// The function from seconds since 1970 to seconds east of UTC.
    private let offset: @Sendable (Int64) -> Int64

    package init(_ offset: @escaping @Sendable (Int64) -> Int64) { self.offset = offset }

    package static let utc = LocalZone { _ in 0 }

    /// The machine's time zone, as used by localtime(3).
    package static let system = LocalZone { seconds in
        var time = time_t(seconds)
        var parts = tm()
        return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    package func local(_ time: WallTime) -> LocalTime { LocalTime(seconds: time.seconds + offset(time.seconds)) }

    /// Returns the moments at which the clocks show a time: none where they skip it, and two where they are put back
    /// over it.
    package func moments(ofLocal seconds: Int64) -> [Int64] {
        // The offset of every zone is less than a day.
        let day = WallTime.secondsPerDay
        let offsets = Set([offset(seconds - day), offset(seconds + day)])
        return offsets.map { seconds - $0 }.filter { $0 + offset($0) == seconds }.sorted()
    }

    /// Returns the first moment at which the clocks show this time, or a later one where they skip it.
    package func firstMoment(ofLocal seconds: Int64) -> Int64 {
        if let first = moments(ofLocal: seconds).first { return first }
        let day = WallTime.secondsPerDay
        return changes(from: seconds - day, to: seconds + day).first { $0 + offset($0) >= seconds }
            ?? seconds - offset(seconds)
    }

    /// Returns the moments at which the clocks are put forward or back; no zone does so twice within a day.
    package func changes(from start: Int64, to end: Int64) -> [Int64] {
        var result: [Int64] = []
        var time = start
        while time < end {
            let next = min(time + WallTime.secondsPerDay, end)
            if offset(time) != offset(next) {
                var (before, after) = (time, next)
                while after - before > 1 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == offset(time) { before = middle } else { after = middle }
                }
                result.append(after)
            }
            time = next
        }
        return result
    }
}
