import TransferCore
package import TransferJobs

/// The bytes over metered links, by kind of link and by hour of the local clock. For older days, only sums are kept.
package struct MeteredUsage: Sendable, Hashable {
    /// A count to be kept from one run to the next.
    package struct Row: Sendable, Hashable, Codable {
        package var kind: LinkClass
        /// The hours since 1970 by the local clock; the sum of a day is at its first hour.
        package var hour: Int64
        package var bytes: Int64

        package init(kind: LinkClass, hour: Int64, bytes: Int64) {
            self.kind = kind
            self.hour = hour
            self.bytes = bytes
        }
    }

    private struct Slot: Hashable {
        var kind: LinkClass
        var hour: Int64
    }

    private var slots: [Slot: Int64] = [:]
    /// The last day with new bytes. The hours of this day and the day before are kept apart.
    private var lastDay = Int64.min

    /// The number of days in the longest month, and one more.
    private static let daysKept: Int64 = 32

    package init(_ rows: [Row] = []) {
        for row in rows {
            slots[Slot(kind: row.kind, hour: row.hour), default: 0] += max(0, row.bytes)
            lastDay = max(lastDay, Self.day(row.hour))
        }
    }

    /// The counts, in ascending order of hours.
    package var rows: [Row] {
        slots.map { Row(kind: $0.kind, hour: $0.hour, bytes: $1) }.sorted {
            ($0.hour, $0.kind.rawValue) < ($1.hour, $1.kind.rawValue)
        }
    }

    package mutating func add(_ bytes: Int64, over kind: LinkClass, at time: WallTime, _ zone: LocalZone) {
        guard bytes > 0 else { return }
        let local = zone.local(time)
        slots[Slot(kind: kind, hour: local.hour), default: 0] += bytes
        guard local.day > lastDay else { return }
        lastDay = local.day
        fold()
    }

    /// Returns the bytes in the present period.
    ///
    /// - Parameter kind: The kind of link; `nil` for all kinds together.
    package func used(in period: MeteredBudget.Period, of kind: LinkClass? = nil, at time: WallTime, _ zone: LocalZone)
        -> Int64
    {
        let hours = period.hours(at: zone.local(time))
        return slots.reduce(0) { sum, slot in
            hours.contains(slot.key.hour) && (kind == nil || slot.key.kind == kind) ? sum + slot.value : sum
        }
    }

    private mutating func fold() {
        var folded: [Slot: Int64] = [:]
        for (slot, bytes) in slots {
            let day = Self.day(slot.hour)
            guard day > lastDay - Self.daysKept else { continue }
            folded[day >= lastDay - 1 ? slot : Slot(kind: slot.kind, hour: day * 24), default: 0] += bytes
        }
        slots = folded
    }

    private static func day(_ hour: Int64) -> Int64 { (hour - (hour < 0 ? 23 : 0)) / 24 }
}

extension MeteredBudget.Period {
    /// Returns the hours since 1970, by the local clock, of the period that contains a moment.
    package func hours(at local: LocalTime) -> Range<Int64> {
        let day = local.day
        switch self {
        case .hour: return local.hour..<local.hour + 1
        case .day: return day * 24..<(day + 1) * 24
        case .week:
            let monday = day - Int64(local.weekday)
            return monday * 24..<(monday + 7) * 24
        case .month:
            let (year, month, _) = CivilDate.date(ofDay: day)
            let first = CivilDate.day(year: year, month: month, day: 1)
            let next = month == 12 ? (year + 1, 1) : (year, month + 1)
            return first * 24..<CivilDate.day(year: next.0, month: next.1, day: 1) * 24
        }
    }

    /// Returns the time at which the next period begins.
    package func end(at time: WallTime, _ zone: LocalZone) -> WallTime {
        WallTime(seconds: zone.firstMoment(ofLocal: hours(at: zone.local(time)).upperBound * 3600))
    }
}
