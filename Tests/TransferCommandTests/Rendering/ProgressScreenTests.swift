import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct ProgressScreenTests {
    /// The state of LOOK.md's example.
    func example() -> ProgressScreen {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 200_000, kept: 142_100))))
        func transfer(_ job: String, _ share: Double, of total: Double, rate: Double, _ phase: JobProgress.Phase) {
            screen.receive(event(.started(job: job, JobStart(isUpload: false, url: "u", offset: 0, attempt: 1))))
            let progress = JobProgress(
                completed: Int64(share * total), total: Int64(total), rate: Int64(rate), phase: phase)
            screen.receive(event(.progress(job: job, progress)))
        }
        transfer("images/98/981233.jpg", 1, of: 212 * 1024, rate: 0, .verifying)
        transfer(
            "warehouse/2026-11-19/clicks.parquet", 0.345, of: 402 * mebibyte, rate: 21.0 * mebibyte, .transferring)
        transfer(
            "warehouse/2026-11-19/orders.parquet", 0.765, of: 1.21 * gibibyte, rate: 38.4 * mebibyte, .transferring)
        for index in 0..<29 {
            screen.receive(
                event(.started(job: "small/\(index)", JobStart(isUpload: false, url: "u", offset: 0, attempt: 1))))
        }
        let now = totals(jobs: 200_000, kept: 142_100, completed: 811, failed: 3, bytes: Int64(81.4 * gibibyte))
        let wait = WaitReason.host(
            origin: "https://cdn.example", status: 429, message: "429 Too Many Requests", remaining: .seconds(42))
        screen.receive(
            event(
                .batchProgress(
                    progress(
                        now, active: 32, waiting: 1204, rate: 61.7 * mebibyte, eta: .seconds(546), reason: wait))))
        return screen
    }

    @Test func looksAsIntendedAt80Columns() {
        let frame = example().frame(now: start, width: 80, height: 10, charset: .utf8)
        #expect(
            frame.text == """
                nightly: 200,000 jobs, 142,100 done by an earlier run

                …/2026-11-19/orders.parquet  ━━━━━━━━━━╸───  76%  1.21 GiB  38.4 MiB/s    0:08
                …/2026-11-19/clicks.parquet  ━━━━╸─────────  34%   402 MiB  21.0 MiB/s    0:13
                images/98/981233.jpg         ━━━━━━━━━━━━━━ 100%   212 KiB   verifying
                + 29 more

                142,911 of 200,000   71%   81.4 GiB   61.7 MiB/s   ETA 9:06   32 active
                3 failed   1,204 waiting: cdn.example said 429, asks for 0:42
                """)
    }

    @Test func offlineTheLastLineCountsTheTime() {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 322, kept: 318))))
        let reason = WaitReason.network("offline: eth0 no carrier, wwan0 no route")
        screen.receive(event(.batchWaiting(reason, transfers: 4), after: 2))
        let waiting = progress(totals(jobs: 322, kept: 318), waiting: 4, reason: reason)
        screen.receive(event(.batchProgress(waiting), after: 5))
        func last(after seconds: Int64) -> String? {
            screen.frame(now: start + seconds * 1000, width: 80, height: 10, charset: .utf8).last?.text
        }
        #expect(
            last(after: 8) == "offline 6 s, waiting: eth0 no carrier, wwan0 no route; no attempt is spent")
        screen.receive(event(.batchContinues(links: ["eth0"], after: .seconds(8), transfers: 4), after: 10))
        screen.receive(event(.batchProgress(progress(totals(jobs: 322, kept: 318), active: 4)), after: 10))
        #expect(last(after: 11)?.contains("offline") == false)
        // A second outage starts its own count.
        screen.receive(event(.batchWaiting(.network("offline"), transfers: 4), after: 20))
        screen.receive(event(.batchProgress(waiting), after: 20))
        #expect(last(after: 21)?.hasPrefix("offline 1 s, waiting: ") == true)
    }

    @Test func aRuleThatKeepsJobsWaitingIsNoOutage() {
        var screen = ProgressScreen()
        let reason = WaitReason.network("only metered links are up")
        screen.receive(event(.batchProgress(progress(totals(jobs: 9), waiting: 9, reason: reason))))
        let last = screen.frame(now: start, width: 80, height: 10, charset: .utf8).last
        #expect(last?.text == "9 waiting: only metered links are up")
    }

    @Test func hasAnASCIIForm() {
        let frame = example().frame(now: start, width: 80, height: 10, charset: .ascii)
        #expect(
            frame.text == """
                nightly: 200,000 jobs, 142,100 done by an earlier run

                ...026-11-19/orders.parquet  [#########---]  76%  1.21 GiB  38.4 MiB/s    0:08
                ...026-11-19/clicks.parquet  [####--------]  34%   402 MiB  21.0 MiB/s    0:13
                images/98/981233.jpg         [############] 100%   212 KiB   verifying
                + 29 more

                142,911 of 200,000   71%   81.4 GiB   61.7 MiB/s   ETA 9:06   32 active
                3 failed   1,204 waiting: cdn.example said 429, asks for 0:42
                """)
        #expect(frame.allSatisfy { DisplayWidth.isPlain($0.text) })
    }

    @Test func givesUpColumnsWhenNarrow() {
        let frame = example().frame(now: start, width: 40, height: 10, charset: .utf8)
        #expect(
            frame.text == """
                nightly: 200,000 jobs, 142,100 done b…

                …-11-19/orders.parquet   76%  1.21 GiB
                …-11-19/clicks.parquet   34%   402 MiB
                images/98/981233.jpg    100%   212 KiB
                + 29 more

                142,911 of 200,000   71%   81.4 GiB
                3 failed   1,204 waiting: cdn.example…
                """)
    }

    @Test func neverWrapsNorScrolls() {
        var screen = example()
        let hostile = "\u{1B}[2J日本語\n\(String(repeating: "長い名前/", count: 60))"
        screen.receive(event(.batchStarted(totals(jobs: 1)), batch: hostile))
        let start = JobStart(isUpload: false, url: "u", offset: 0, attempt: 1)
        screen.receive(event(.started(job: hostile, start), batch: hostile))
        let big = JobProgress(completed: 1, total: .max, rate: 1, phase: .transferring)
        screen.receive(event(.progress(job: hostile, big), batch: hostile))
        let reason = WaitReason.disk(hostile, remaining: .seconds(1))
        screen.receive(event(.batchWaiting(reason, transfers: 0), batch: hostile))
        for width in Array(1...12) + stride(from: 13, through: 200, by: 11) {
            for height in [1, 2, 5, 8, 12, 60] {
                for charset in [Charset.utf8, .ascii] {
                    let frame = screen.frame(now: 0, width: width, height: height, charset: charset)
                    #expect(frame.count <= max(1, height - 1))
                    #expect(frame.allSatisfy { $0.width <= max(10, width - 2) })
                    #expect(frame.allSatisfy { !$0.text.unicodeScalars.contains { $0.value < 0x20 } })
                }
            }
        }
    }

    @Test func showsEveryRowThatFits() {
        let tall = example().frame(now: start, width: 80, height: 60, charset: .utf8)
        #expect(tall.count == 2 + 32 + 1 + 2)
        #expect(!tall.text.contains("more"))
        let low = example().frame(now: start, width: 80, height: 6, charset: .utf8)
        #expect(low.map(\.text).first?.hasPrefix("…/2026-11-19/orders.parquet") == true)
        #expect(low.count == 5)
    }

    @Test func theCountdownContinuesBetweenEvents() {
        let later = example().frame(now: start + 12_000, width: 80, height: 10, charset: .utf8)
        #expect(later.last?.text == "3 failed   1,204 waiting: cdn.example said 429, asks for 0:30")
    }

    @Test func countsBytesOnceAllRemainingSizesAreKnown() {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 2))))
        screen.receive(event(.finished(receipt("a", bytes: 1000))))
        screen.receive(event(.batchProgress(progress(totals(jobs: 2, completed: 1), active: 1))))
        screen.receive(event(.started(job: "b", JobStart(isUpload: false, url: "u", offset: 0, attempt: 1))))
        #expect(screen.percent == 50)
        screen.receive(
            event(.progress(job: "b", JobProgress(completed: 8000, total: 9000, rate: 1, phase: .transferring))))
        #expect(screen.percent == 90)
    }

    @Test func holdsOnlyTheJobsUnderWay() {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 10_000))))
        let begin = JobStart(isUpload: false, url: "u", offset: 0, attempt: 1)
        for index in 0..<10_000 {
            screen.receive(event(.started(job: "j\(index)", begin)))
            let end: QueueEvent.Kind =
                switch index % 6 {
                case 0: .finished(receipt("j\(index)"))
                case 1: failure("j\(index)", notFound)
                case 2: .retrying(job: "j\(index)", delay: .seconds(1), notFound)
                case 3: .cancelled(job: "j\(index)")
                case 4: .waiting(job: "j\(index)", .slot)
                default: .kept(receipt("j\(index)"))
                }
            screen.receive(event(end))
        }
        #expect(screen.jobs.isEmpty)
    }

    @Test func unknownSizesLeaveTheirColumnsEmpty() {
        let layout = RowLayout(width: 78)
        let progress = JobProgress(completed: 212 * 1024, total: nil, rate: 2048, phase: .transferring)
        #expect(
            layout.row(.init(name: "stream", progress: progress), .utf8).text
                == "stream                       ──────────────        212 KiB  2.00 KiB/s")
        #expect(
            layout.row(.init(name: "new", progress: nil), .utf8).text
                == "new                          ──────────────                 connecting")
    }
}
