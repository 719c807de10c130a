import Foundation
import Testing
import TransferCore
import TransferQueue
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import transfer

/// The mark of unchecked certificates on each line of the job: on the screen, in the log and in JSON.
@Suite(.timeLimit(.minutes(1))) struct InsecureLinesTests {
    private static func begun(_ job: String, isInsecure: Bool) -> QueueEvent {
        var start = JobStart(isUpload: false, url: "https://cdn.example/\(job)", offset: 0, attempt: 1)
        start.isInsecure = isInsecure
        return event(.started(job: job, start))
    }

    private static let busy = status(503, "Service Unavailable", isTransient: true)

    @Test func theMarkGoesFromTheStartOfAJobToItsEnd() {
        var jobs = InsecureJobs()
        let begun = [Self.begun("a", isInsecure: false), Self.begun("b", isInsecure: true)].map { jobs.note($0) }
        #expect(begun == [false, true])
        for kind: QueueEvent.Kind in [
            .progress(job: "b", JobProgress(completed: 1, total: 2, rate: 1, phase: .transferring)),
            .retrying(job: "b", delay: .seconds(1), Self.busy), .waiting(job: "b", .paused),
            .finished(receipt("b")),
        ] {
            let isMarked = jobs.note(event(kind))
            #expect(isMarked, "\(kind)")
        }
        let ended = ["a", "b"].map { jobs.note(event(.finished(receipt($0)))) }
        #expect(ended == [false, false])
    }

    @Test func aLineOfTheLogHasItBehindTheName() {
        var log = LogRenderer(verbose: true)
        _ = log.receive(Self.begun("b", isInsecure: true), insecure: true)
        _ = log.receive(event(.retrying(job: "b", delay: .milliseconds(200), Self.busy)), insecure: true)
        let lines = log.receive(event(failure("b", notFound)), insecure: true).map(\.text)
        #expect(
            lines == [
                "b [-k]: 503 Service Unavailable, again in 0.2 s (cdn.example)", "b [-k]: 404 Not Found, not retried",
            ])
        let others = log.receive(event(failure("c", notFound))).map(\.text)
        #expect(others == ["c: 404 Not Found, not retried"])
    }

    @Test(arguments: [200, 60, 40, 24]) func aRowOfTheScreenHasItHoweverNarrow(_ width: Int) {
        let name = "images/2026-11-19/a-name-that-is-longer-than-its-column-is-wide-in-any-case.parquet"
        let job = ProgressScreen.ActiveJob(name: name, progress: nil, isInsecure: true)
        let row = RowLayout(width: width).row(job, .utf8).text
        #expect(row.contains(" [-k]") && DisplayWidth.of(row) <= width, "\(row)")
    }

    @Test func eachLineOfARunHasIt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            server.script("/b", [.status(503)])
            try place.jobs([
                download(server.url("/a"), to: "a"),
                download(server.url("/b"), to: "b", #""tls": {"insecure": true}"#),
            ])
            for _ in 0..<2 {
                let run = try await place.runJobs("-v", "--report", "report.jsonl")
                let events = try run.events()
                #expect(run.exitCode == 0 && !events.of("b").isEmpty, "\(run)")
                for event in events.of("b") { #expect(event["insecure"]?.bool == true, "\(event)") }
                for event in events.of("a") { #expect(event["insecure"] == nil, "\(event)") }
                #expect(!run.standardError.contains(" b: "), "\(run)")
                #expect(run.standardError.contains("b [-k]: "), "\(run)")
            }
            let report = try place.folder.text("report.jsonl").split(separator: "\n")
            for line in report { #expect(line.contains(#""insecure":true"#) == line.contains(#""id":"b""#), "\(line)") }
            #expect(try await place.status("batch", "--jobs").map { $0["insecure"]?.bool } == [nil, true])
            let why = try await place.run("why", "batch/b")
            #expect(
                why.standardOutput.contains("  tls       certificates are not checked (-k, tls.insecure)"), "\(why)")
        }
    }

    @Test(
        arguments: [
            (0, "at once"), (1, "in 0.1 s"), (200, "in 0.2 s"), (201, "in 0.3 s"), (900, "in 0.9 s"),
            (901, "in 1 s"), (1000, "in 1 s"), (1001, "in 2 s"), (42_000, "in 42 s"), (300_000, "in 5m 00s"),
        ])
    func aDelayIsReportedExactly(_ milliseconds: Int, _ words: String) {
        #expect(WaitText.after(.milliseconds(milliseconds)) == words)
    }
}
