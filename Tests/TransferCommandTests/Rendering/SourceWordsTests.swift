import Testing
import TransferCore
import TransferQueue

@testable import transfer

private func source(
    _ host: String, x connections: Int = 0, mebibytes: Double = 0, rate: Double? = nil,
    state: JobSource.State = .used, fault: JobSource.Fault? = nil, again: Duration? = nil
) -> JobSource {
    JobSource(
        url: "https://\(host)/x.iso", connections: connections, bytes: Int64(mebibytes * mebibyte),
        rate: rate.map { Int64($0 * mebibyte) }, state: state, fault: fault, again: again)
}

private let one: [JobSource] = [source("a.example", x: 4)]
private let two: [JobSource] = [source("a.example", x: 4), source("b.example", x: 2)]
private let three: [JobSource] = [
    source("a.example", x: 2), source("b.example", x: 1), source("c.mirror.example", x: 8), source("dead.example"),
]
private let gone: JobSource.Fault = JobSource.Fault(.refused, "404 Not Found")

/// The sources of a download in a row of the screen, in a log, and in `transfer why`.
@Suite struct SourceWordsTests {
    private static let rows: [([JobSource], Int, String)] = [
        (one, 80, "a.example x4"), (one, 12, "a.example x4"), (one, 11, "…example x4"), (one, 10, "x4"), (one, 2, "x4"),
        (one, 1, ""),
        (two, 26, "a.example x4, b.example x2"), (two, 25, "a.example x4 +1"), (two, 15, "a.example x4 +1"),
        (two, 14, "2 hosts x6"), (two, 9, "x6"),
        (three, 48, "c.mirror.example x8, a.example x2, b.example x1"),
        (three, 40, "c.mirror.example x8, a.example x2 +1"), (three, 30, "c.mirror.example x8 +2"),
        (three, 20, "3 hosts x11"), (three, 3, "x11"),
        ([source("a.example", x: 1)], 80, ""), ([], 80, ""),
        ([source("a.example", x: 1), source("b.example", x: 1)], 80, "a.example x1, b.example x1"),
        ([source("a.example", x: 1), source("b.example", state: .dropped, fault: gone)], 80, ""),
    ]

    @Test func theWorkerThatHasAJobStandsBeforeItsHosts() {
        var progress = JobProgress(completed: 1, total: 2, rate: 3, phase: .transferring)
        progress.sources = one
        func row(_ width: Int) -> String { SourceText.row(of: progress, width: width, charset: .utf8) }
        #expect(row(80) == "a.example x4")
        progress.worker = "node-3"
        #expect(row(80) == "node-3: a.example x4" && row(12) == "node-3: x4" && row(6) == "node-3" && row(4) == "…e-3")
        progress.sources = []
        #expect(row(.max) == "node-3")
    }

    @Test func hostsThatDoNotFitBecomeANumber() {
        for (sources, width, text) in Self.rows {
            let row = SourceText.row(sources, width: width, charset: .utf8)
            #expect(row == text, "\(width)")
        }
    }

    @Test func twoSourcesOnOneHostAreOne() {
        let sources = ["/1/x", "/2/x"].map { JobSource(url: "https://a.example:8443\($0)", connections: 2) }
        #expect(SourceText.row(sources, width: 80, charset: .utf8) == "a.example:8443 x4")
    }

    // MARK: The screen

    func screen(_ sources: [[JobSource]], names: [String] = []) -> ProgressScreen {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: sources.count))))
        for (index, sources) in sources.enumerated() {
            let job = index < names.count ? names[index] : "warehouse/2026-11-19/orders-\(index).parquet"
            screen.receive(event(.started(job: job, JobStart(isUpload: false, url: "u", offset: 0, attempt: 1))))
            var progress = JobProgress(
                completed: Int64(0.765 * 1.21 * gibibyte), total: Int64(1.21 * gibibyte) - Int64(index),
                rate: Int64(38.4 * mebibyte), phase: .transferring)
            progress.sources = sources
            screen.receive(event(.progress(job: job, progress)))
        }
        return screen
    }

    func rows(_ screen: ProgressScreen, _ width: Int, _ charset: Charset = .utf8) -> [String] {
        screen.frame(now: start, width: width, height: 12, charset: charset).map(\.text).filter {
            $0.contains("parquet")
        }
    }

    @Test func aWideRowEndsWithTheSources() {
        #expect(
            rows(screen([two, []]), 120) == [
                "…/2026-11-19/orders-0.parquet        ━━━━━━━━━━━━━╸────  76%  1.21 GiB  38.4 MiB/s    0:08  a.example x4, b.example x2",
                "…/2026-11-19/orders-1.parquet        ━━━━━━━━━━━━━╸────  76%  1.21 GiB  38.4 MiB/s    0:08",
            ])
    }

    @Test func at80ColumnsThereIsRoomForOneHost() {
        #expect(
            rows(screen([one]), 80) == [
                "…/orders-0.parquet  ━━━━━━╸──  76%  1.21 GiB  38.4 MiB/s    0:08  a.example x4"
            ])
        #expect(
            rows(screen([two]), 80) == [
                "…/orders-0.parquet  ━━━━━━──  76%  1.21 GiB  38.4 MiB/s    0:08  2 hosts x6"
            ])
    }

    @Test func aNarrowRowHasTheNumberBehindTheName() {
        #expect(rows(screen([two]), 72).first?.contains(".parquet x6  ") == true)
    }

    @Test func withoutSeveralConnectionsTheRowIsAsItWas() {
        let usual = rows(screen([[]]), 100)
        #expect(rows(screen([[source("a.example", x: 1)]]), 100) == usual)
    }

    @Test func noRowIsWiderThanTheScreen() {
        let long = [source("very.long.name.of.a.mirror.somewhere.example:8443", x: 16), source("日本.example", x: 3)]
        for sources in [[one], [two, three], [long, []], [long, three, one]] {
            let screen = screen(sources)
            for width in 1...160 {
                for charset in [Charset.utf8, .ascii] {
                    let frame = screen.frame(now: start, width: width, height: 12, charset: charset)
                    #expect(frame.allSatisfy { $0.width <= max(10, width - 2) }, "\(width)")
                }
            }
        }
    }

    // MARK: transfer why

    @Test func whyHasALineForEachSource() {
        let sources = [
            source("a.example", x: 4, mebibytes: 812, rate: 38.4),
            source("mirror.b.example", x: 2, mebibytes: 40.2, rate: 1),
            source("c.example", state: .dropped, fault: gone),
            source(
                "d.example", mebibytes: 3, rate: 0.1, state: .paused,
                fault: .init(.failed, "Connection refused"), again: .seconds(4)),
        ]
        #expect(
            SourceText.lines(sources + [source("e.example", state: .unasked)]).map(\.withoutTrailingSpaces) == [
                "a.example         x4   812 MiB  38.4 MiB/s",
                "mirror.b.example  x2  40.2 MiB  1.00 MiB/s",
                "c.example                                   dropped: 404 Not Found",
                "d.example             3.00 MiB   102 KiB/s  paused, asked again in 0:04: Connection refused",
                "e.example                                   not asked so far",
            ])
    }

    @Test func sourcesOfOneHostAreDistinguishedByTheirURLs() {
        let sources = ["/1/x", "/2/x"].map { JobSource(url: "https://a.example\($0)", connections: 1) }
        let lines = SourceText.lines(sources + [source("b.example", x: 1)])
        #expect(
            lines.map { $0.split(separator: " ")[0] } == [
                "https://a.example/1/x", "https://a.example/2/x", "b.example",
            ])
        #expect(SourceText.lines([]).isEmpty)
    }

    /// The line is written once a minute, where one transfer is under way.
    @Test func theTotalsOfOneTransferNameItsSource() {
        func last(active: Int, _ reported: [JobSource]) -> String? {
            var log = LogRenderer()
            _ = log.receive(event(.batchStarted(totals(jobs: 1))))
            var transfer = JobProgress(completed: 1, total: 2, rate: 1, phase: .transferring)
            transfer.sources = reported
            log.note(event(.progress(job: "x.iso", transfer), after: 59))
            let now = progress(totals(jobs: 1, bytes: 1024), active: active, rate: 2048)
            return log.receive(event(.batchProgress(now), after: 60)).last?.text
        }
        #expect(last(active: 1, two) == "0/1 1.00 KiB 2.00 KiB/s from a.example x4, b.example x2")
        #expect(last(active: 2, two) == "0/1 1.00 KiB 2.00 KiB/s")
        #expect(last(active: 1, []) == "0/1 1.00 KiB 2.00 KiB/s")
    }

    @Test func aVerboseLogHasALineForEachChange() {
        var log = LogRenderer(verbose: true)
        func text(_ source: JobSource) -> [String] {
            log.receive(event(.source(job: "x.iso", source))).map(\.text)
        }
        #expect(
            text(source("c.example", state: .dropped, fault: gone)) == [
                "x.iso: c.example dropped: 404 Not Found"
            ])
        #expect(text(source("c.example", x: 1)) == ["x.iso: c.example is asked again"])
        log.verbose = false
        #expect(text(source("c.example", state: .dropped, fault: gone)).isEmpty)
    }

    @Test(arguments: [(80, "from a.example:8443"), (14, "from …ple:8443"), (12, "")])
    func aCopyNamesItsOnlySource(width: Int, row: String) {
        let sources = [JobSource(url: "https://a.example:8443/x", connections: 1, bytes: 1)]
        #expect(SourceText.row(sources, isCopy: true, width: width, charset: .utf8) == row)
        #expect(SourceText.row(sources, width: width, charset: .utf8) == "")
    }
}
