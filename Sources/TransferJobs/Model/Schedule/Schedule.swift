/// The times at which a job may run, by the clock on the wall: windows of a day, which may cross midnight.
///
/// When the clock is put forward, what it skips isn't there that day; when it's put back, what it shows twice is there
/// twice.
public struct Schedule: Sendable, Hashable {
    /// Empty: always.
    public var windows: [Window]

    public init(_ windows: [Window] = []) { self.windows = windows }

    /// `22:00-06:00` on some days of the week.
    public struct Window: Sendable, Hashable {
        /// Monday is 0; of a window that crosses midnight these are the days it begins on.
        public let weekdays: Set<Int>
        /// Minutes since midnight, 0 to 1439.
        public let start: Int
        /// Minutes since midnight, 1 to 1440; one before the start is on the next day.
        public let end: Int

        /// - Returns: `nil` for what is no window: out of range, without a day, or as long as nothing.
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

    /// When it opens the next time; `nil` when it never does, being open always.
    package func nextOpening(after time: WallTime, _ zone: LocalZone) -> WallTime? {
        var wasOpen = contains(time, zone)
        for moment in boundaries(after: time, zone) {
            let isOpen = contains(moment, zone)
            if isOpen, !wasOpen { return moment }
            wasOpen = isOpen
        }
        return nil
    }

    /// When it closes, of a moment at which it's open; `nil` when it never does.
    package func nextClosing(after time: WallTime, _ zone: LocalZone) -> WallTime? {
        guard contains(time, zone) else { return nil }
        return boundaries(after: time, zone).first { !contains($0, zone) }
    }

    /// Ascending moments, all at which it can open or close in the next two weeks and a day: a window of one day may
    /// fall into what the clock skips, and is there a week later.
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
