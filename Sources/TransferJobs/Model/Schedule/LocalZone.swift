import Glibc
import TransferCore

/// A moment by the clock of the world, which can be set; milliseconds since 1970.
package struct WallTime: Sendable, Hashable, Comparable, Codable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package init(seconds: Int64) { milliseconds = seconds * 1000 }

    /// Rounded down.
    package var seconds: Int64 { (milliseconds - (milliseconds < 0 ? 999 : 0)) / 1000 }

    package static let secondsPerDay: Int64 = 86_400

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// Saturates instead of overflowing.
    package static func + (left: Self, right: Duration) -> Self {
        let (sum, overflew) = left.milliseconds.addingReportingOverflow(right.inMilliseconds)
        return Self(milliseconds: overflew ? .max : sum)
    }
}

/// What a clock on a wall shows, as seconds since 1970 if that clock were UTC's.
package struct LocalTime: Sendable, Hashable {
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }
    package init(day: Int64) { seconds = day * WallTime.secondsPerDay }

    /// Days since 1970.
    package var day: Int64 { (seconds - (seconds < 0 ? WallTime.secondsPerDay - 1 : 0)) / WallTime.secondsPerDay }
    /// Hours since 1970.
    package var hour: Int64 { day * 24 + secondOfDay / 3600 }
    package var minute: Int { Int(secondOfDay / 60) }
    /// Monday is 0; 1 January 1970 was a Thursday.
    package var weekday: Int { Int(((day + 3) % 7 + 7) % 7) }

    private var secondOfDay: Int64 { seconds - day * WallTime.secondsPerDay }
}

/// The time zone: how far its clocks are ahead of UTC at a moment.
package struct LocalZone: Sendable {
    /// Seconds since 1970 → seconds east of UTC.
    private let offset: @Sendable (Int64) -> Int64

    package init(_ offset: @escaping @Sendable (Int64) -> Int64) { self.offset = offset }

    package static let utc = LocalZone { _ in 0 }

    /// The machine's, as localtime(3) has it.
    package static let system = LocalZone { seconds in
        var time = time_t(seconds)
        var parts = tm()
        return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    package func local(_ time: WallTime) -> LocalTime { LocalTime(seconds: time.seconds + offset(time.seconds)) }

    /// When the clocks show that: never when they skip it, twice when they're put back over it.
    package func moments(ofLocal seconds: Int64) -> [Int64] {
        // No zone is as far as a day from UTC.
        let day = WallTime.secondsPerDay
        let offsets = Set([offset(seconds - day), offset(seconds + day)])
        return offsets.map { seconds - $0 }.filter { $0 + offset($0) == seconds }.sorted()
    }

    /// The first moment at which the clocks show that or, when they skip it, later.
    package func firstMoment(ofLocal seconds: Int64) -> Int64 {
        if let first = moments(ofLocal: seconds).first { return first }
        let day = WallTime.secondsPerDay
        return changes(from: seconds - day, to: seconds + day).first { $0 + offset($0) >= seconds }
            ?? seconds - offset(seconds)
    }

    /// The moments at which the clocks are put forward or back; none puts them twice within a day.
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
