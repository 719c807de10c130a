import Foundation
import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

@Suite struct MeteredUsageTests {
    /// A rule; bytes and their times; the period, the moment of the query, the bytes used, the start of the next
    /// period.
    private static let cases: [(String, [(Int64, String)], MeteredBudget.Period, String, Int64, String)] = [
        ("nothing yet", [], .day, "2026-11-21 12:00", 0, "2026-11-22 00:00"),
        (
            "a day is the local one", [(1, "2026-11-20 23:59"), (2, "2026-11-21 00:00"), (4, "2026-11-21 23:59")], .day,
            "2026-11-21 12:00", 6, "2026-11-22 00:00"
        ),
        (
            "an hour", [(1, "2026-11-21 11:59"), (2, "2026-11-21 12:00"), (4, "2026-11-21 12:59")], .hour,
            "2026-11-21 12:30", 6, "2026-11-21 13:00"
        ),
        (
            "a week begins on Monday", [(1, "2026-11-15 23:00"), (2, "2026-11-16 00:00"), (4, "2026-11-21 12:00")],
            .week,
            "2026-11-21 12:30", 6, "2026-11-23 00:00"
        ),
        (
            "a month", [(1, "2026-10-31 23:00"), (2, "2026-11-01 00:00"), (4, "2026-11-21 12:00")], .month,
            "2026-11-21 12:30", 6, "2026-12-01 00:00"
        ),
        ("the year's last month", [(1, "2026-12-31 12:00")], .month, "2026-12-31 12:30", 1, "2027-01-01 00:00"),
        (
            "hours of yesterday are still apart", [(1, "2026-11-20 23:30"), (2, "2026-11-21 00:10")], .hour,
            "2026-11-20 23:40", 1, "2026-11-21 00:00"
        ),
        (
            "a day of 23 hours", [(1, "2026-03-29 01:30"), (2, "2026-03-29 23:30")], .day, "2026-03-29 12:00", 3,
            "2026-03-30 00:00"
        ),
        (
            "an hour that is there twice is one", [(1, "2026-10-25 02:30"), (2, "2026-10-25 02:30+")], .hour,
            "2026-10-25 02:40", 3, "2026-10-25 03:00"
        ),
        (
            "the hour before one that is skipped", [(1, "2026-03-29 01:30")], .hour, "2026-03-29 01:30", 1,
            "2026-03-29 03:00"
        ),
    ]

    @Test(arguments: cases)
    func countsByTheLocalCalendar(
        rule: String, bytes: [(Int64, String)], period: MeteredBudget.Period, now: String, used: Int64, next: String
    ) {
        let zone = LocalZone.berlin
        var usage = MeteredUsage()
        for (count, time) in bytes { usage.add(count, over: .cellular, at: at(time, zone), zone) }
        #expect(usage.used(in: period, at: at(now, zone), zone) == used, "\(rule)")
        let end = period.end(at: at(now, zone), zone)
        #expect(end == at(next, zone), "\(rule)")
        #expect(MeteredUsage(usage.rows).used(in: period, at: at(now, zone), zone) == used, "\(rule), restored")
    }

    @Test func aDayThatBeginsLateBeginsWhenItDoes() {
        let end = MeteredBudget.Period.day.end(at: at("2026-09-05 12:00", .santiago), .santiago)
        #expect(end == at("2026-09-06 01:00", .santiago))
    }

    @Test func distinguishesKinds() {
        var usage = MeteredUsage()
        let now = at("2026-11-21 12:00")
        usage.add(5, over: .cellular, at: now, .utc)
        usage.add(7, over: .wifi, at: now, .utc)
        usage.add(-3, over: .wifi, at: now, .utc)
        #expect(usage.used(in: .day, of: .cellular, at: now, .utc) == 5)
        #expect(usage.used(in: .day, of: .wifi, at: now, .utc) == 7)
        #expect(usage.used(in: .day, of: .ethernet, at: now, .utc) == 0)
        #expect(usage.used(in: .day, at: now, .utc) == 12)
    }

    /// The test records two kinds in each hour of two years: the stored data stays small, and the sums stay right.
    @Test func forgetsUsageOutsideEveryPeriod() throws {
        var usage = MeteredUsage()
        let first = at("2025-01-01 00:00").seconds
        for hour in 0..<(24 * 730) {
            let now = WallTime(seconds: first + Int64(hour) * 3600)
            usage.add(1, over: .cellular, at: now, .utc)
            usage.add(10, over: .wifi, at: now, .utc)
            if hour % 500 == 0 {
                usage = MeteredUsage(
                    try JSONDecoder().decode([MeteredUsage.Row].self, from: JSONEncoder().encode(usage.rows)))
            }
        }
        let last = at("2026-12-31 23:30")
        #expect(usage.rows.count < 2 * (48 + 32))
        #expect(usage.used(in: .day, at: last, .utc) == 24 * 11)
        #expect(usage.used(in: .week, of: .cellular, at: last, .utc) == 4 * 24)
        #expect(usage.used(in: .month, of: .wifi, at: last, .utc) == 31 * 240)
    }
}
