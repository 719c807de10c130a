import Glibc
import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct LogRendererTests {
    /// Returns lines without their times, which depend on the machine's time zone.
    func texts(_ renderer: inout LogRenderer, _ events: QueueEvent...) -> [String] {
        events.flatMap { renderer.receive($0) }.map { "\($0.level.name) \($0.text)" }
    }

    func begin(_ job: String, host: String = "cdn.example", after seconds: Double = 0) -> QueueEvent {
        let start = JobStart(isUpload: false, url: "https://\(host)/\(job)", offset: 0, attempt: 1)
        return event(.started(job: job, start), after: seconds)
    }

    @Test func looksAsIntended() {
        var log = LogRenderer()
        let counts = totals(jobs: 200_000, kept: 142_100, completed: 811, failed: 3, bytes: Int64(81.4 * gibibyte))
        let state = progress(counts, active: 32, rate: 61.7 * mebibyte, eta: .seconds(546))
        var waiting = state
        waiting.waiting = 1204
        waiting.waitReason = .host(
            origin: "https://cdn.example", status: 429, message: "429 Too Many Requests", remaining: .seconds(42))
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 200_000, kept: 142_100))),
            event(.batchProgress(state), after: 30), event(.batchProgress(state), after: 60),
            event(.batchProgress(waiting), after: 67), event(.batchProgress(waiting), after: 68),
            event(.restarted(job: "a.iso", reason: "changed on server (ETag a1→b7)"), after: 69),
            event(failure("q3.pdf", notFound), after: 70))
        #expect(
            lines == [
                "info nightly: 200,000 jobs, 142,100 done, 57,900 to do",
                "info 142,911/200,000 81.4 GiB 61.7 MiB/s failed 3 ETA 9m",
                "warn cdn.example: 429, Retry-After 42 s, 1,204 jobs wait",
                "warn a.iso: from 0 again, changed on server (ETag a1→b7)",
                "error q3.pdf: 404 Not Found, not retried",
            ])
    }

    /// A job that reports several waits is one job, and a started job no longer waits.
    @Test func noMoreJobsWaitThanThereAre() {
        var log = LogRenderer()
        let busy = status(429, "Too Many Requests", isTransient: true, retryAfter: .seconds(5))
        _ = log.receive(event(.batchStarted(totals(jobs: 3))))
        for second in stride(from: 0.0, to: 61, by: 5) {
            for job in ["a", "b", "c"] {
                _ = log.receive(begin(job, after: second))
                _ = log.receive(event(.retrying(job: job, delay: .seconds(5), busy), after: second))
            }
        }
        _ = log.receive(begin("c", after: 62))
        let lines = texts(&log, event(.batchProgress(progress(totals(jobs: 3), active: 1, waiting: 2)), after: 70))
        #expect(lines.first == "warn cdn.example: 429, Retry-After 5 s, 2 jobs wait")
    }

    @Test func onlyJobsThatWaitForTheHostAreReportedWithIt() {
        var log = LogRenderer()
        var waiting = progress(totals(jobs: 200), waiting: 190)
        waiting.waitReason = .host(
            origin: "https://cdn.example", status: 503, message: "503 Service Unavailable", remaining: .seconds(8))
        waiting.waitingForReason = 7
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 200))), event(.batchProgress(waiting), after: 1))
        #expect(lines.last == "warn cdn.example: 503, Retry-After 8 s, 7 jobs wait")
    }

    /// No server sent a Retry-After: the pause is the queue's own. A proxy's answer is not the host's.
    @Test func anUnrequestedPauseIsReportedAsTheQueuesOwn() {
        let unasked = WaitReason.host(
            origin: "https://cdn.example", status: 503, message: "503 Service Unavailable", remaining: .seconds(8),
            isAsked: false)
        #expect(WaitText.log(unasked) == "cdn.example: 503, next try in 8 s")
        #expect(WaitText.screen(unasked, elapsed: 1000) == "cdn.example said 503, next try in 0:07")
        let error = TransferError(
            .proxyRefused, "the proxy http://px:3128 asks for credentials (407)", cause: .http(status: 407),
            scope: .origin)
        let refused = WaitReason.held(by: "https://cdn.example", error, remaining: .seconds(8))
        #expect(
            WaitText.log(refused)
                == "cdn.example: the proxy http://px:3128 asks for credentials (407), next try in 8 s")
        #expect(!WaitText.screen(refused, elapsed: 0).contains("said"))
        #expect(!QueueJSON.line(event(.batchWaiting(refused, transfers: 0))).contains("\"status\""))
        var own = error
        own.proxy = "http://px:3128"
        let waits = WaitReason.held(by: "https://cdn.example", own, remaining: .seconds(8))
        #expect(WaitText.log(waits) == "px:3128: the proxy http://px:3128 asks for credentials (407), next try in 8 s")
        #expect(QueueJSON.line(event(.batchWaiting(waits, transfers: 0))).contains(#""origin":"http://px:3128""#))
    }

    @Test func theRateOfAResumedFileIsThatOfItsRest() {
        var log = LogRenderer(verbose: true)
        var rest = receipt("a", bytes: Int64(8 * mebibyte))
        rest.transferred = Int64(2 * mebibyte)
        let lines = texts(&log, event(.finished(rest)))
        #expect(lines == ["info a: fetched 8.00 MiB in 2 s, 2.00 MiB of it now, 1.00 MiB/s, md5 verified"])
    }

    /// After a clock that is set back by an hour the log would be silent for an hour.
    @Test func aClockThatIsSetBackSilencesNothing() {
        var log = LogRenderer()
        let tick = QueueEvent.Kind.batchProgress(progress(totals(jobs: 9)))
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 9)), after: 4000), event(tick, after: 4060),
            event(tick, after: 4061),
            event(tick, after: 461), event(tick, after: 500), event(tick, after: 522))
        #expect(lines.count == 3, "\(lines)")
    }

    @Test func anOutageLooksAsIntended() {
        var log = LogRenderer()
        let reason = WaitReason.network("offline: eth0 lost carrier")
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 40))), event(.batchWaiting(reason, transfers: 32), after: 3),
            event(.batchContinues(links: ["wwan0"], after: .seconds(8), transfers: 32), after: 11),
            event(.batchWaiting(.network("only metered links are up"), transfers: 1), after: 20),
            event(.batchContinues(links: ["eth0", "wwan0"], after: .seconds(90), transfers: 1), after: 110),
            event(.batchWaiting(.network("offline"), transfers: 0), after: 120),
            event(.batchContinues(links: [], after: .milliseconds(100), transfers: 0), after: 121))
        #expect(
            lines == [
                "info nightly: 40 jobs", "warn offline: eth0 lost carrier, 32 transfers paused",
                "info online by wwan0 after 8 s, 32 transfers continue",
                "warn waiting: only metered links are up, 1 transfer paused",
                "info online by eth0, wwan0 after 1m 30s, 1 transfer continues", "warn offline",
                "info online after 0.1 s",
            ])
    }

    @Test func anOutageNamesItsBatchAmongSeveral() {
        var log = LogRenderer()
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 1))), event(.batchStarted(totals(jobs: 1)), batch: "other"),
            event(.batchWaiting(.network("offline"), transfers: 2), after: 1, batch: "other"))
        #expect(lines.last == "warn other: offline, 2 transfers paused")
    }

    @Test func linesHaveTheLocalTimeButInTheJournalAPriority() {
        let line = LogLine(level: .error, time: start, text: "q3.pdf: 404 Not Found, not retried")
        #expect(LogFormat.file.line(line).text == "\(TimeText.local(start)) error q3.pdf: 404 Not Found, not retried")
        #expect(LogFormat.journal.line(line).text == "<3>q3.pdf: 404 Not Found, not retried")
        #expect(LogFormat.journal.line(LogLine(level: .warn, time: start, text: "x")).text == "<4>x")
        #expect(LogFormat.journal.line(LogLine(level: .info, time: start, text: "x")).text == "<6>x")
        #expect(LogFormat.terminal.line(line).text == "error q3.pdf: 404 Not Found, not retried")
    }

    @Test func retriesOfAHostAreOneLine() {
        var log = LogRenderer()
        let error = TransferError(.connectionLost, "the connection was lost", isTransient: true)
        var lines: [String] = []
        for index in 0..<100 {
            lines += texts(
                &log, begin("j\(index)"), event(.retrying(job: "j\(index)", delay: .seconds(2), error)),
                begin("k\(index)", host: "b.example"),
                event(.retrying(job: "k\(index)", delay: .seconds(4), error)))
        }
        #expect(lines.isEmpty)
        let tick = QueueEvent.Kind.batchProgress(progress(totals(jobs: 200)))
        lines = texts(&log, event(tick, after: 1))
        #expect(
            lines.filter { $0.hasPrefix("warn") } == [
                "warn b.example: the connection was lost, 100 retries, the last in 4 s",
                "warn cdn.example: the connection was lost, 100 retries, the last in 2 s",
            ])
    }

    @Test func theSameTroubleIsReportedOnceAMinute() {
        var log = LogRenderer()
        _ = log.receive(event(.batchStarted(totals(jobs: 9))))
        let error = TransferError(.timedOut, "no answer for 30 s", isTransient: true)
        let tick = QueueEvent.Kind.batchProgress(progress(totals(jobs: 9)))
        var lines: [String] = []
        for second in 0..<59 {
            lines += texts(
                &log, begin("a", after: Double(second)),
                event(.retrying(job: "a", delay: .milliseconds(1500), error), after: Double(second)),
                event(tick, after: Double(second) + 0.4))
        }
        #expect(lines == ["warn a: no answer for 30 s, again in 2 s (cdn.example)"])
        lines = texts(&log, event(tick, after: 61))
        #expect(lines.first == "warn cdn.example: no answer for 30 s, 58 retries, the last in 2 s")
    }

    @Test func aLineIsWrittenEvenIfNoProgressComes() {
        var log = LogRenderer()
        let busy = status(503, "Service Unavailable", isTransient: true, retryAfter: .seconds(5))
        #expect(
            texts(
                &log, begin("a"), event(.retrying(job: "a", delay: .seconds(5), busy)), begin("b", after: 2.1)) == [
                    "warn cdn.example: 503, Retry-After 5 s, 1 job waits"
                ])
        _ = log.receive(event(.retrying(job: "b", delay: .seconds(1), notFound), after: 3))
        #expect(log.finish(time: start + 4000).map(\.text) == ["b: 404 Not Found, again in 1 s (cdn.example)"])
    }

    @Test func successesAreReportedOnlyOnRequest() {
        let done = event(.finished(receipt("x.iso", bytes: 4 << 20)))
        let sent = event(.finished(receipt("r.pdf", isUpload: true)))
        let kept = event(.kept(receipt("y.iso")))
        var quiet = LogRenderer()
        #expect(texts(&quiet, done, sent, kept).isEmpty)
        var verbose = LogRenderer(verbose: true)
        #expect(
            texts(&verbose, done, sent, kept) == [
                "info x.iso: fetched 4.00 MiB in 2 s, 2.00 MiB/s, md5 verified",
                "info r.pdf: sent 4.00 KiB in 2 s, 2.00 KiB/s, md5 verified",
                "info y.iso: kept, complete before",
            ])
    }

    @Test func aLiveScreenLeavesOnlyLinesThatStay() {
        var log = LogRenderer(.lasting)
        let tick = QueueEvent.Kind.batchProgress(progress(totals(jobs: 1), waiting: 1, reason: .slot))
        #expect(
            texts(
                &log, event(.batchStarted(totals(jobs: 1))), begin("a"), event(tick, after: 100),
                event(.retrying(job: "a", delay: .seconds(1), notFound), after: 100), event(tick, after: 200),
                event(.restarted(job: "a", reason: "the server has no ranges"), after: 200)) == [
                    "warn a: from 0 again, the server has no ranges"
                ])
    }

    @Test func withoutProgressALastingTroubleIsReportedOnce() {
        var log = LogRenderer(.troubles)
        func tick(_ reason: WaitReason? = nil) -> QueueEvent.Kind {
            .batchProgress(progress(totals(jobs: 1), waiting: 1, reason: reason))
        }
        func full(_ delay: Int64) -> QueueEvent.Kind {
            .waiting(job: "a", .disk("no space for a", remaining: .seconds(delay), patience: .seconds(delay + 242)))
        }
        let refused = TransferError(.cannotConnect, "Connection refused", isTransient: true)
        let lines = texts(
            &log, event(.batchStarted(totals(jobs: 1))), begin("a"), event(tick(), after: 100),
            event(full(1), after: 100), event(tick(), after: 101), event(full(60), after: 300),
            event(tick(), after: 301), event(.retrying(job: "b", delay: .seconds(1), refused), after: 302),
            event(tick(), after: 303), event(.retrying(job: "b", delay: .seconds(8), refused), after: 304),
            event(tick(), after: 305), event(.retrying(job: "b", delay: .seconds(60), refused), after: 400),
            event(tick(.slot), after: 401),
            event(.batchContinues(links: ["eth0"], after: .seconds(1), transfers: 0), after: 402),
            event(.batchWaiting(.network("offline"), transfers: 1), after: 403),
            event(.batchContinues(links: ["eth0"], after: .seconds(1), transfers: 1), after: 404))
        #expect(
            lines == [
                "warn a: no space for a, again in 1 s, for 4m 03s at most", "warn b: Connection refused, again in 8 s",
                "warn offline, 1 transfer paused", "info online by eth0 after 1 s, 1 transfer continues",
            ], "\(lines)")
    }

    @Test func namesCannotForgeALine() {
        var log = LogRenderer()
        let lines = texts(&log, event(failure("x\n2026-11-20T02:00:00 info all good\u{1B}[1A", notFound)))
        #expect(lines == [#"error x\n2026-11-20T02:00:00 info all good\x1b[1A: 404 Not Found, not retried"#])
        var ascii = LogRenderer(charset: .ascii)
        #expect(
            texts(&ascii, event(.restarted(job: "ä.iso", reason: "changed on server (ETag a1→b7)"))) == [
                "warn ?.iso: from 0 again, changed on server (ETag a1->b7)"
            ])
    }

    @Test(arguments: [true, false]) func theRetryStandsBeforeTheEndOfItsJob(_ fails: Bool) {
        var renderer = LogRenderer(verbose: true)
        let refused = TransferError(.cannotConnect, "connection refused", isTransient: true)
        let end: QueueEvent.Kind = fails ? failure("a", refused, attempts: 2) : .finished(receipt("a"))
        let lines = texts(
            &renderer, begin("a"), event(.retrying(job: "a", delay: .seconds(1), refused), after: 0.1),
            event(end, after: 1.2), event(.batchFinished(totals(jobs: 1), duration: .seconds(1)), after: 1.3))
        #expect(lines.count == 2 && lines[0].hasPrefix("warn a: connection refused, again in 1 s"))
        let reported = fails ? "error a: connection refused, given up" : "info a: fetched"
        #expect(lines.last?.hasPrefix(reported) == true, "\(lines)")
    }

    /// The retries of a job between two reports of the batch's progress are one line, which stands before the end too.
    @Test(arguments: [true, false]) func severalRetriesStandBeforeTheEndOfTheirJob(_ isDisk: Bool) {
        var renderer = LogRenderer()
        let refused = TransferError(.cannotConnect, "connection refused", isTransient: true)
        let wait: QueueEvent.Kind =
            isDisk
            ? .waiting(job: "a", .disk("no space for a", remaining: .milliseconds(100), patience: .seconds(1)))
            : .retrying(job: "a", delay: .milliseconds(100), refused)
        let error = isDisk ? TransferError(.diskFull, "no space for a") : refused
        let lines = texts(
            &renderer, begin("a"), event(wait, after: 0.1), begin("a", after: 0.2), event(wait, after: 0.3),
            event(failure("a", error, attempts: 3), after: 0.4),
            event(.batchFinished(totals(jobs: 1), duration: .seconds(1)), after: 0.5))
        let warning = isDisk ? "no space for a, 2 retries" : "connection refused, 2 retries (cdn.example)"
        #expect(lines.count == 2 && lines[0] == "warn a: \(warning)", "\(lines)")
        #expect(lines.last?.hasPrefix("error a: ") == true, "\(lines)")
    }

    @Test func retriesOfSeveralJobsAreReportedForTheirHostWhenOneEnds() {
        var renderer = LogRenderer()
        let refused = TransferError(.cannotConnect, "connection refused", isTransient: true)
        func retry(_ job: String) -> QueueEvent { event(.retrying(job: job, delay: .seconds(1), refused), after: 0.1) }
        let lines = texts(
            &renderer, begin("a"), begin("b"), retry("b"), retry("a"),
            event(failure("a", refused, attempts: 2), after: 0.4),
            event(.batchProgress(progress(totals(jobs: 2))), after: 1))
        #expect(lines.first?.hasPrefix("error a: ") == true, "\(lines)")
        #expect(lines[1] == "warn cdn.example: connection refused, 2 retries, the last in 1 s", "\(lines)")
    }

    @Test func failuresReportTheirNumberOfAttempts() {
        let lost = TransferError(.connectionLost, "the connection was lost", isTransient: true)
        let exists = TransferError(.fileExists, "/srv/x exists with other contents")
        var log = LogRenderer()
        #expect(
            texts(
                &log, event(failure("a", lost, attempts: 10)), event(failure("b", exists, host: nil)),
                event(.skipped(job: "c", need: "a"))) == [
                    "error a: the connection was lost, given up after 10 attempts",
                    "error b: /srv/x exists with other contents",
                    "warn c: skipped, it needs a, which did not complete",
                ])
    }

    @Test func aMillionHostsStayBounded() {
        var folding = RetryFolding()
        for index in 0..<5000 {
            folding.add(
                batch: "b", job: "j", host: "h\(index)", delay: .seconds(1), error: notFound, time: start)
        }
        #expect(folding.flush(time: start + 1000, all: true, charset: .utf8).count == 201)
    }
}
