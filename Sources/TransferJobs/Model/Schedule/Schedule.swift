/// The times of the local clock at which a job may run: windows of a day, which may cross midnight.
///
/// A time that the clock skips when it is put forward does not occur on that day. A time that it shows twice when it is
/// put back occurs twice.
public struct Schedule: Sendable, Hashable {
    /// The windows; an empty array means always.
    public var windows: [Window]

    /// Creates a schedule; without windows it is always open.
    public init(_ windows: [Window] = []) { self.windows = windows }

    /// A window such as `22:00-06:00` on some days of the week.
    public struct Window: Sendable, Hashable {
        /// The days on which the window begins, where Monday is 0.
        public let weekdays: Set<Int>
        /// The start in minutes since midnight, 0 to 1439.
        public let start: Int
        /// The end in minutes since midnight, 1 to 1440; an end before the start is on the next day.
        public let end: Int

        /// Creates a window.
        ///
        /// - Returns: `nil` for values out of range, for no days, and for an empty window.
        public init?(weekdays: Set<Int> = Set(0..<7), start: Int, end: Int) {
            let end = end == 0 ? Self.minutesPerDay : end
            guard !weekdays.isEmpty, weekdays.allSatisfy((0..<7).contains), (0..<Self.minutesPerDay).contains(start),
                (1...Self.minutesPerDay).contains(end), start != end
            else { return nil }
            self.weekdays = weekdays
            self.start = start
            self.end = end
        }

        package static let minutesPerDay = 1440

        package var crossesMidnight: Bool { end < start }

        fileprivate func contains(_ local: LocalTime) -> Bool {
            let today = weekdays.contains(local.weekday)
            guard crossesMidnight else { return today && (start..<end).contains(local.minute) }
            return today && local.minute >= start || weekdays.contains((local.weekday + 6) % 7) && local.minute < end
        }
    }

    package var isAlways: Bool { windows.isEmpty }

    package func contains(_ time: WallTime, _ zone: LocalZone) -> Bool {
        let local = zone.local(time)
        return isAlways || windows.contains { $0.contains(local) }
    }

    /// Returns the next opening; `nil` where the schedule is always open and so never opens.
    package func nextOpening(after time: WallTime, _ zone: LocalZone) -> WallTime? {
        var wasOpen = contains(time, zone)
        for moment in boundaries(after: time, zone) {
            let isOpen = contains(moment, zone)
            if isOpen, !wasOpen { return moment }
            wasOpen = isOpen
        }
        return nil
    }

    /// Returns the next closing after a moment at which the schedule is open; `nil` where it never closes.
    package func nextClosing(after time: WallTime, _ zone: LocalZone) -> WallTime? {
        guard contains(time, zone) else { return nil }
        return boundaries(after: time, zone).first { !contains($0, zone) }
    }

    /// Returns in ascending order all moments at which the schedule can open or close within 15 days. A weekly window
    /// may fall into a skipped hour, and then occurs a week later.
    private func boundaries(after time: WallTime, _ zone: LocalZone) -> [WallTime] {
        guard !isAlways else { return [] }
        let horizon = WallTime.secondsPerDay * 15
        var moments = Set(zone.changes(from: time.seconds, to: time.seconds + horizon))
        let today = zone.local(time).day
        for day in today - 1...today + 15 {
            let midnight = LocalTime(day: day)
            for window in windows where window.weekdays.contains(midnight.weekday) {
                let end = window.crossesMidnight ? window.end + Window.minutesPerDay : window.end
                for minutes in [window.start, end] {
                    moments.formUnion(zone.moments(ofLocal: midnight.seconds + Int64(minutes) * 60))
                }
            }
        }
        return moments.sorted().map(WallTime.init(seconds:)).filter { $0 > time }
    }
}
