import Glibc
import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct EndReportTests {
    func report(_ counts: BatchTotals, _ duration: Duration = .seconds(702), _ events: [QueueEvent.Kind] = [])
        -> EndReport
    {
        var report = EndReport(batch: "nightly")
        report.receive(event(.batchStarted(counts)))
        for kind in events { report.receive(event(kind)) }
        report.receive(event(.batchFinished(counts, duration: duration)))
        return report
    }

    let mixed = totals(jobs: 200_000, kept: 142_100, completed: 57_853, failed: 47, bytes: Int64(114 * gibibyte))

    func mixedFailures() -> [QueueEvent.Kind] {
        let differs = TransferError(.checksumMismatch, "sha256 differs: expected 9f86d081884c…, got e3b0c44298fc…")
        let denied = TransferError(
            .fileAccess, "cannot write /srv/in/x.iso.part: permission denied", cause: .os(errno: EACCES))
        return (0..<41).map { failure("images/98/\(981_240 + $0).jpg", notFound) }
            + (3..<8).map { failure("orders-0\($0).parquet", differs, host: "a.example") }
            + [failure("x.iso", denied, host: nil)]
    }

    @Test func failuresLookAsIntended() {
        #expect(
            report(mixed, .seconds(702), mixedFailures()).lines(width: 80, charset: .utf8).text == """
                nightly: 47 of 200,000 failed, 142,100 kept, 57,853 fetched; 114 GiB, 11m 42s

                   41  404 Not Found         cdn.example   images/98/981240.jpg, …
                    5  sha256 differs        a.example     orders-03.parquet, …
                    1  permission denied     (disk)        /srv/in/x.iso.part

                List:   transfer status nightly --failed
                Again:  transfer retry nightly --failed
                """)
    }

    @Test func theCommandsNameTheStateFolder() {
        var report = EndReport(batch: "nightly", hint: CommandHint(state: "/srv/my queue"))
        report.receive(event(.batchStarted(totals(jobs: 1))))
        report.receive(event(failure("x", notFound)))
        report.receive(event(.batchFinished(totals(jobs: 1, failed: 1), duration: .seconds(1))))
        let lines = report.lines(width: 80, charset: .utf8).map(\.text).suffix(2)
        #expect(
            lines == [
                "List:   transfer status nightly --failed --state '/srv/my queue'",
                "Again:  transfer retry nightly --failed --state '/srv/my queue'",
            ])
    }

    @Test func twoNamesAreShownWhereTheyFit() {
        let wide = report(mixed, .seconds(702), mixedFailures()).lines(width: 120, charset: .ascii).map(\.text)
        #expect(wide[2].hasSuffix("images/98/981240.jpg, images/98/981241.jpg, ..."))
        #expect(wide[4].hasSuffix("/srv/in/x.iso.part"))
        let narrow = report(mixed, .seconds(702), mixedFailures()).lines(width: 56, charset: .utf8).map(\.text)
        #expect(narrow[2] == "   41  404 Not Found         cdn.example   …81240.jpg, …")
    }

    @Test func aGoodEndIsOneLine() {
        #expect(
            report(totals(jobs: 199_953, kept: 142_100, completed: 57_853, bytes: Int64(114 * gibibyte)))
                .lines(width: 80, charset: .utf8).text
                == "nightly: 57,853 fetched, 142,100 kept; 114 GiB, 11m 42s")
        #expect(report(totals(jobs: 3, kept: 3), .seconds(1)).headline == "nightly: 3 kept, servers not asked; 1 s")
        #expect(report(totals(jobs: 0), .zero).headline == "nightly: no jobs; 0 s")
    }

    @Test func uploadsAreSent() {
        let ends = [QueueEvent.Kind.finished(receipt("a", isUpload: true)), .finished(receipt("b"))]
        let counts = totals(jobs: 3, completed: 2, skipped: 1, bytes: 8192)
        #expect(report(counts, .seconds(2), ends).headline == "nightly: 1 fetched, 1 sent, 1 skipped; 8.00 KiB, 2 s")
    }

    @Test func atMostTenGroupsAreShown() {
        let failures = (0..<13).flatMap { host in
            (0...host).map { failure("j\($0)", notFound, host: "h\(host).example") }
        }
        let lines = report(totals(jobs: 91, failed: 91), .seconds(2), failures).lines(width: 80, charset: .utf8)
        #expect(lines[2].text == "   13  404 Not Found         h12.example   j0, j1, …")
        #expect(lines[12].text == "   +6 more, in 3 other groups")
        #expect(lines.count == 1 + 1 + 11 + 3)
    }

    @Test func memoryDoesNotGrowWithTheReasons() {
        let failures = (0..<3000).map { failure("j\($0)", notFound, host: "h\($0)") }
        let many = report(totals(jobs: 3000, failed: 3000), .seconds(2), failures)
        #expect(many.sortedGroups.count == EndReport.mostGroups)
        #expect(many.ungrouped == 2000)
        #expect(many.lines(width: 80, charset: .utf8)[12].text == "+2,990 more, in 990 other groups")
    }

    @Test func aFullDiskIsReportedWithItsFile() {
        let full = TransferError(
            .diskFull, "cannot reserve 57.2 MiB for /srv/in/x.part: no space left on device", cause: .os(errno: ENOSPC))
        let lines = report(totals(jobs: 1, failed: 1), .seconds(2), [failure("x", full, host: nil)])
            .lines(width: 80, charset: .utf8).map(\.text)
        #expect(lines[2].hasSuffix("  /srv/in/x.part"), "\(lines)")
    }

    @Test func commandsCanBeCopied() {
        #expect(ShellWord.quoted("/etc/mirror.json") == "/etc/mirror.json")
        #expect(ShellWord.quoted("it's $HOME") == #"'it'\''s $HOME'"#)
        #expect(ShellWord.quoted("") == "''")
        var stopped = EndReport(batch: "mirror")
        stopped.receive(event(.batchStarted(totals(jobs: 40, completed: 12, failed: 1)), batch: "mirror"))
        #expect(
            stopped.stoppedLine(command: "transfer run '/etc/my mirror.json'", charset: .utf8).text
                == "mirror: stopped, 27 left, 1 failed; continue with: transfer run '/etc/my mirror.json'")
    }

    @Test func hostileNamesStayOnTheirLine() {
        let lines = report(totals(jobs: 1, failed: 1), .seconds(2), [failure("a\u{1B}[2J\nb", notFound)])
            .lines(width: 80, charset: .utf8)
        #expect(lines[2].text == #"    1  404 Not Found         cdn.example   a\x1b[2J\nb"#)
    }

    @Test func logsGiveTheReportATimeOrPriorities() {
        let lines: [StyledLine] = ["head", "", "  row"]
        #expect(
            LogFormat.file.report(lines, level: .info, time: start).text
                == "\(TimeText.local(start)) info head\n\n  row")
        #expect(LogFormat.journal.report(lines, level: .error, time: start).text == "<3>head\n<3>  row")
    }
}
