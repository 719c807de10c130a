import Foundation
import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct ScheduleTests {
    private func schedule(_ texts: String...) throws -> Schedule { Schedule(try texts.map { try .init($0) }) }

    /// A rule, the windows (split by `|`), a moment, and whether the schedule is open at that moment.
    private static let moments: [(String, String, String, Bool)] = [
        ("nothing said is always", "", "2026-11-21 03:00", true),
        ("the start belongs to it", "09:00-17:00", "2026-11-21 09:00", true),
        ("the end does not", "09:00-17:00", "2026-11-21 17:00", false),
        ("before midnight", "22:00-06:00", "2026-11-21 23:59", true),
        ("after midnight", "22:00-06:00", "2026-11-22 05:59", true),
        ("by day", "22:00-06:00", "2026-11-22 12:00", false),
        ("to midnight", "22:00-24:00", "2026-11-22 00:00", false),
        ("00:00 as an end is midnight", "22:00-00:00", "2026-11-21 23:59", true),
        ("a day of the week", "Sat 10:00-12:00", "2026-11-21 11:00", true),
        ("another day", "Sun 10:00-12:00", "2026-11-21 11:00", false),
        ("days in a row", "Fri-Sun 10:00-12:00", "2026-11-21 11:00", true),
        ("days over the week's end", "Sat-Mon 10:00-12:00", "2026-11-23 11:00", true),
        ("the night that begins on Friday lasts to Saturday", "Mon-Fri 22:00-06:00", "2026-11-21 05:00", true),
        ("and no longer", "Mon-Fri 22:00-06:00", "2026-11-21 23:00", false),
        ("nor does it begin on Sunday", "Mon-Fri 22:00-06:00", "2026-11-23 05:00", false),
        ("whole days", "Sat,Sun", "2026-11-21 00:00", true),
        ("any of several", "Mon-Fri 22:00-06:00|Sat,Sun", "2026-11-22 15:00", true),
    ]

    @Test(arguments: moments)
    func isOpenByTheLocalTime(rule: String, windows: String, moment: String, isOpen: Bool) throws {
        for zone in [LocalZone.utc, .berlin, .santiago] {
            let schedule = Schedule(try windows.split(separator: "|").map { try .init(String($0)) })
            #expect(schedule.contains(at(moment, zone), zone) == isOpen, "\(rule)")
        }
    }

    /// A rule, the window, the zone, the start, the next opening, the next closing; a dash for none.
    private static let changes: [(String, String, LocalZone, String, String, String)] = [
        ("closed: opens today", "22:00-06:00", .berlin, "2026-11-21 12:00", "2026-11-21 22:00", "-"),
        ("open: closes tomorrow", "22:00-06:00", .berlin, "2026-11-21 23:00", "2026-11-22 22:00", "2026-11-22 06:00"),
        ("at the opening itself", "22:00-06:00", .berlin, "2026-11-21 22:00", "2026-11-22 22:00", "2026-11-22 06:00"),
        ("at the closing itself", "22:00-06:00", .berlin, "2026-11-21 06:00", "2026-11-21 22:00", "-"),
        ("after the weekend", "Mon-Fri 22:00-06:00", .berlin, "2026-11-21 07:00", "2026-11-23 22:00", "-"),
        ("a week later", "Sat 10:00-12:00", .berlin, "2026-11-21 13:00", "2026-11-28 10:00", "-"),
        (
            "windows that touch are one", "22:00-24:00|00:00-06:00", .berlin, "2026-11-21 23:00", "2026-11-22 22:00",
            "2026-11-22 06:00"
        ),
        ("always", "", .berlin, "2026-11-21 12:00", "-", "-"),
        ("all days long is always", "00:00-24:00", .berlin, "2026-11-21 12:00", "-", "-"),
        // The clocks skip 2:00 to 3:00.
        (
            "a night that is an hour shorter", "22:00-06:00", .berlin, "2026-03-28 23:00", "2026-03-29 22:00",
            "2026-03-29 06:00"
        ),
        (
            "what is skipped whole comes the next day", "02:15-02:45", .berlin, "2026-03-29 01:00", "2026-03-30 02:15",
            "-"
        ),
        ("or the next week", "Sun 02:15-02:45", .berlin, "2026-03-29 01:00", "2026-04-05 02:15", "-"),
        (
            "an opening that is skipped is when the clocks go on", "02:30-05:00", .berlin, "2026-03-29 01:00",
            "2026-03-29 03:00", "-"
        ),
        ("so is a closing", "01:00-02:30", .berlin, "2026-03-29 01:30", "2026-03-30 01:00", "2026-03-29 03:00"),
        // The clocks show 2:00 to 3:00 twice.
        (
            "a night that is an hour longer", "22:00-06:00", .berlin, "2026-10-24 23:00", "2026-10-25 22:00",
            "2026-10-25 06:00"
        ),
        ("what is there twice opens twice", "02:15-02:45", .berlin, "2026-10-25 02:45", "2026-10-25 02:15+", "-"),
        ("and closes twice", "02:15-02:45", .berlin, "2026-10-25 02:30+", "2026-10-26 02:15", "2026-10-25 02:45+"),
        (
            "an end that is there twice closes, and opens again", "01:00-02:30", .berlin, "2026-10-25 01:30",
            "2026-10-25 02:00+", "2026-10-25 02:30"
        ),
        // Midnight is skipped.
        ("a day that begins at one", "Sun", .santiago, "2026-09-05 12:00", "2026-09-06 01:00", "-"),
        ("half an hour back", "00:00-02:00", .lordHowe, "2026-04-05 00:30", "2026-04-06 00:00", "2026-04-05 02:00"),
    ]

    @Test(arguments: changes)
    private func reportsTheNextChange(
        rule: String, windows: String, zone: LocalZone, now: String, opening: String, closing: String
    ) throws {
        let schedule = Schedule(try windows.split(separator: "|").map { try .init(String($0)) })
        let (next, end) = (
            schedule.nextOpening(after: at(now, zone), zone), schedule.nextClosing(after: at(now, zone), zone)
        )
        #expect(next == (opening == "-" ? nil : at(opening, zone)), "\(rule)")
        #expect(end == (closing == "-" ? nil : at(closing, zone)), "\(rule)")
    }

    /// The test compares every minute of ten days around both changes with the definition.
    @Test(arguments: ["22:00-06:00", "02:15-02:45", "Sun 01:30-02:30", "Fri-Sun 23:30-02:15"])
    func agreesWithACheckOfEveryMinute(window: String) throws {
        let schedule = try schedule(window)
        for start in ["2026-03-25 00:00", "2026-10-21 00:00"] {
            let first = at(start).seconds
            let minutes = (0...14_400).map { WallTime(seconds: first + $0 * 60) }
            let open = minutes.map { schedule.contains($0, .berlin) }
            for index in stride(from: 0, to: 4000, by: 23) {
                let opening = (index + 1..<open.count).first { open[$0] && !open[$0 - 1] }
                let closing = open[index] ? (index + 1..<open.count).first { !open[$0] } : nil
                #expect(schedule.nextOpening(after: minutes[index], .berlin) == opening.map { minutes[$0] })
                #expect(schedule.nextClosing(after: minutes[index], .berlin) == closing.map { minutes[$0] })
            }
        }
    }

    private static let texts: [(String, String)] = [
        ("22:00-06:00", "22:00-06:00"), ("9:05-17:00", "09:05-17:00"), ("22:00-00:00", "22:00-24:00"),
        ("mon-FRI 22:00-06:00", "Mon-Fri 22:00-06:00"), ("Sat,Sun", "Sat-Sun 00:00-24:00"),
        ("Monday,Wednesday-Thu 10:00-11:00", "Mon,Wed-Thu 10:00-11:00"),
        ("Fri-Mon 1:00-2:00", "Mon,Fri-Sun 01:00-02:00"),
        ("Mon-Sun 01:00-02:00", "01:00-02:00"),
    ]

    @Test(arguments: texts)
    func readsAndWritesWindows(text: String, canonical: String) throws {
        let window = try Schedule.Window(text)
        #expect(window.text == canonical)
        #expect(try Schedule.Window(canonical) == window)
    }

    private static let refusals: [(String, String)] = [
        ("", "not a window of time; \(Schedule.Window.advice)"),
        ("22:00", "not a window of time; \(Schedule.Window.advice)"),
        ("22:00-06:00 Mon", "not a window of time; \(Schedule.Window.advice)"),
        ("Mon 22:00-06:00 x", "not a window of time; \(Schedule.Window.advice)"),
        ("22-06", #""22" is no time of day; 00:00 to 24:00 are possible"#),
        ("22:00-24:01", #""24:01" is no time of day; 00:00 to 24:00 are possible"#),
        ("22:0-24:00", #""22:0" is no time of day; 00:00 to 24:00 are possible"#),
        ("06:00-06:00", #"the window "06:00-06:00" is empty; "00:00-24:00" is the whole day"#),
        ("24:00-06:00", #"the window "24:00-06:00" is empty; "00:00-24:00" is the whole day"#),
        ("Mno 22:00-06:00", #"unknown day "Mno"; did you mean "Mon"?"#),
        ("Mon-Xyz 22:00-06:00", #"unknown day "Xyz"; Mon, Tue, Wed, Thu, Fri, Sat or Sun are possible"#),
    ]

    @Test(arguments: refusals)
    func reportsTheFaultOfAWindow(text: String, message: String) throws {
        let refusal = #expect(throws: Schedule.Window.Refusal.self) { try Schedule.Window(text) }
        #expect(refusal?.message == message)
    }

    @Test func theMachinesZoneIsThatOfItsOtherPrograms() {
        for seconds in stride(from: 1_700_000_000, to: 1_800_000_000, by: 7_000_000) {
            let offset = TimeZone.current.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            let local = LocalZone.system.local(WallTime(seconds: Int64(seconds)))
            #expect(local.seconds - Int64(seconds) == Int64(offset))
        }
    }
}
