import Foundation
import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct ReporterTests {
    func run(_ reporter: Reporter) {
        reporter.receive(event(.batchStarted(totals(jobs: 2))))
        let begin = JobStart(isUpload: false, url: "https://cdn.example/a", offset: 0, attempt: 1)
        reporter.receive(event(.started(job: "a", begin)))
        reporter.receive(
            event(.progress(job: "a", JobProgress(completed: 1, total: 2, rate: 1, phase: .transferring))))
        reporter.receive(event(.finished(receipt("a")), after: 1))
        reporter.receive(event(failure("b", notFound), after: 1))
        reporter.receive(
            event(
                .batchFinished(totals(jobs: 2, completed: 1, failed: 1, bytes: 4096), duration: .seconds(2)), after: 2))
        reporter.finish()
    }

    let report = """
        nightly: 1 of 2 failed, 1 fetched; 4.00 KiB, 2 s

            1  404 Not Found         cdn.example   b

        List:   transfer status nightly --failed
        Again:  transfer retry nightly --failed

        """

    @Test func aLogHasFailuresAndTheReport() throws {
        let (errors, output) = (Sink(), Sink())
        run(try Reporter(.init(), terminal: errors.terminal(), standardOutput: output.terminal()))
        #expect(
            errors.contents() == """
                \(TimeText.local(start)) info nightly: 2 jobs
                \(TimeText.local(start + 1000)) error b: 404 Not Found, not retried
                \(TimeText.local(start + 2000)) error \(report)
                """)
        #expect(output.contents() == "")
    }

    @Test func jsonGoesToStandardOutputWithoutProgress() throws {
        let (errors, output) = (Sink(), Sink())
        run(try Reporter(.init(json: .events), terminal: errors.terminal(), standardOutput: output.terminal()))
        let names = output.contents().split(separator: "\n").compactMap { $0.firstMatch(of: /"event":"([a-z.]+)"/)?.1 }
        #expect(names == ["batch.started", "job.started", "job.finished", "job.failed", "batch.finished"])
    }

    @Test func progressOfJobsIsReportedOnRequest() throws {
        let (errors, output) = (Sink(), Sink())
        run(try Reporter(.init(json: .withProgress), terminal: errors.terminal(), standardOutput: output.terminal()))
        #expect(output.contents().contains(#""event":"job.progress""#))
    }

    @Test func quietMeansFailuresOnly() throws {
        let (errors, output) = (Sink(), Sink())
        run(try Reporter(.init(isQuiet: true), terminal: errors.terminal(), standardOutput: output.terminal()))
        #expect(
            errors.contents() == """
                \(TimeText.local(start + 1000)) error b: 404 Not Found, not retried
                \(TimeText.local(start + 2000)) error \(report)
                """)
        let good = try Reporter(.init(isQuiet: true), terminal: errors.terminal(), standardOutput: output.terminal())
        good.receive(event(.batchStarted(totals(jobs: 1))))
        good.receive(event(.batchFinished(totals(jobs: 1, completed: 1), duration: .seconds(1))))
        good.finish()
        #expect(errors.contents() == "")
    }

    @Test func theScreenIsRemovedAndTheReportStays() throws {
        let (errors, output) = (Sink(), Sink())
        let terminal = errors.terminal(isTerminal: true, ["TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"])
        run(try Reporter(.init(), terminal: terminal, standardOutput: output.terminal(), now: { start }))
        let contents = errors.contents()
        #expect(contents.contains("error b: 404 Not Found, not retried\n"))
        #expect(contents.hasSuffix(report + "\u{1B}[J"))
        #expect(!contents.contains("\u{1B}[?25l"))
    }

    @Test func theReportFileGetsEachEndOnce() throws {
        let path = NSTemporaryDirectory() + "report-\(UUID().uuidString).jsonl"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (errors, output) = (Sink(), Sink())
        for _ in 1...2 {
            run(
                try Reporter(
                    .init(reportFile: path), terminal: errors.terminal(), standardOutput: output.terminal()))
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix(#"{"event":"job.finished""#))
        #expect(lines[1].hasPrefix(#"{"event":"job.failed""#))
    }

    /// The second line comes too soon after the first to be written with it, and perhaps no event follows.
    @Test(.timeLimit(.minutes(1))) func theLastLineIsWrittenWithoutAnEventAfterIt() async throws {
        let (errors, output) = (Sink(), Sink())
        let reporter = try Reporter(
            .init(json: .events, isVerbose: true), terminal: errors.terminal(), standardOutput: output.terminal())
        reporter.receive(event(failure("a", notFound)))
        reporter.receive(event(failure("b", notFound)))
        var (lines, log) = ("", "")
        try await until("both lines on standard output") {
            lines += output.contents()
            return lines.contains(#""id":"b""#)
        }
        try await until("both lines in the log") {
            log += errors.contents()
            return log.contains(" b: 404")
        }
        reporter.finish()
    }

    @Test func aReportFileThatCannotBeWrittenIsRefused() {
        let sink = Sink()
        #expect {
            _ = try Reporter(
                .init(reportFile: "/nowhere/r.jsonl"), terminal: sink.terminal(), standardOutput: sink.terminal())
        } throws: { error in
            (error as? TransferError)?.message == "cannot write the report /nowhere/r.jsonl: no such file or directory"
        }
    }

    @Test func aReaderThatWentAwayEndsTheWritingOnly() throws {
        let (errors, output) = (Sink(), Sink())
        let reporter = try Reporter(
            .init(json: .events), terminal: errors.terminal(), standardOutput: output.terminal())
        output.closeReader()
        run(reporter)
        #expect(errors.contents().contains("404 Not Found"))
    }

    @Test func aSlowReaderGetsEverythingInOrder() {
        let sink = Sink()
        var output = BufferedOutput(descriptor: sink.write)
        let text = (0..<40_000).map { "\($0)\n" }.joined()
        output.append(text)
        var got = ""
        output.flush(patience: 0)
        #expect(!output.bytes.isEmpty)
        while got.utf8.count < text.utf8.count {
            let before = got.utf8.count
            got += sink.contents()
            output.flush(patience: 0)
            guard got.utf8.count > before else { break }
        }
        #expect(got == text)
        #expect(output.bytes.isEmpty)
    }

    @Test func stoppedBatchesReportHowToContinue() throws {
        let (errors, output) = (Sink(), Sink())
        let reporter = try Reporter(
            .init(), terminal: errors.terminal(), standardOutput: output.terminal(), now: { start })
        reporter.receive(event(.batchStarted(totals(jobs: 40, kept: 12)), batch: "mirror"))
        reporter.note(.warn, "stopping\u{7}")
        reporter.finish(commands: ["mirror": "transfer run /etc/mirror.json"])
        let time = TimeText.local(start)
        #expect(
            errors.contents() == """
                \(time) info mirror: 40 jobs, 12 done, 28 to do
                \(time) warn stopping\\x07
                \(time) warn mirror: stopped, 28 left; continue with: transfer run /etc/mirror.json

                """)
    }
}
