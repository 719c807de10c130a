import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue

/// The statistics of a download's URLs, as a pure value.
@Suite struct SourceStatisticsTests {
    let history = SourceStatistics()
    let a = "https://a.example/x"
    let b = "https://user:secret@b.example/x?X-Amz-Signature=1234"
    let refused = JobSource.Fault(.refused, "404 Not Found")

    @Test func oneSourceOverOneConnectionIsNotReported() {
        history.opened(a, now: 0)
        #expect(history.current([a: 5], now: 1).isEmpty)
        history.closed(a, bytes: 9, now: 2)
        #expect(history.atEnd(now: 2).isEmpty && !history.hasNews)
    }

    @Test func bytesUnderWayCount() {
        history.opened(a, now: 0)
        history.opened(a, now: 1)
        history.closed(a, bytes: 100, now: 2)
        let reported = history.current([a: 60], now: 4)
        #expect(reported == [JobSource(url: a, connections: 1, bytes: 160, rate: 40)])
    }

    /// The final number of connections is the peak. The rate is the mean over the time in which the source had
    /// connections.
    @Test func theEndReportsThePeakOfConnectionsAndTheMeanRate() {
        for time in [0.0, 1, 1.5] { history.opened(a, now: time) }
        for time in [2.0, 3, 4] { history.closed(a, bytes: 100, now: time) }
        history.opened(a, now: 100)
        history.closed(a, bytes: 300, now: 102)
        #expect(history.atEnd(now: 200) == [JobSource(url: a, connections: 3, bytes: 600, rate: 100)])
    }

    @Test func theRateUnderWayIsThatOfTheLastSeconds() {
        history.opened(a, now: 0)
        history.opened(a, now: 0)
        history.measure([:], now: 0)
        history.measure([a: 1000], now: 1)
        #expect(history.current([a: 1000], now: 1).first?.rate == 1000)
        // The measurement is too early for a rate.
        history.measure([a: 1001], now: 1.1)
        #expect(history.current([a: 1001], now: 1.1).first?.rate == 1000)
        history.measure([a: 5000], now: 2)
        #expect(history.current([a: 5000], now: 2).first?.rate == 2000)
        history.closed(a, bytes: 5000, now: 2)
        history.measure([:], now: 4)
        #expect(history.current([:], now: 4).first?.bytes == 5000)
    }

    @Test func secretsOfAURLAreNotReported() throws {
        history.opened(b, now: 0)
        history.dropped(b, refused)
        let reported = try #require(history.atEnd(now: 1).first)
        #expect(reported.url.hasPrefix("https://") && reported.url.contains("b.example/x"))
        #expect(!reported.url.contains("secret") && !reported.url.contains("1234"))
        #expect(history.takeNews(now: 1).first?.url == reported.url)
    }

    @Test func eachChangeOfAStateIsReportedOnce() {
        history.opened(a, now: 0)
        history.opened(b, now: 0)
        #expect(history.takeNews(now: 0).isEmpty)
        history.closed(b, bytes: 0, now: 1)
        history.paused(b, refused, until: 6)
        let paused = history.takeNews(now: 2)
        #expect(paused.map(\.state) == [.paused] && paused.first?.again == .seconds(4))
        // The same event is repeated, and a measurement follows.
        history.paused(b, refused, until: 7)
        _ = history.current([:], now: 3)
        #expect(history.takeNews(now: 3).isEmpty)
        history.paused(b, JobSource.Fault(.silent, "nothing came"), until: 8)
        #expect(history.takeNews(now: 3).map(\.fault?.cause) == [.silent])
        history.opened(b, now: 8)
        #expect(history.takeNews(now: 8).map(\.state) == [.used])
        history.dropped(b, refused)
        history.paused(b, refused)
        #expect(history.takeNews(now: 9).map(\.state) == [.dropped])
        #expect(!history.hasNews)
    }

    @Test func aSourcePausedAtTheEndCountsAsDropped() {
        history.opened(a, now: 0)
        history.paused(b, refused, until: 50)
        #expect(history.current([:], now: 1).map(\.state) == [.used, .paused])
        let end = history.atEnd(now: 2)
        #expect(end.map(\.state) == [.used, .dropped] && end[1].again == nil && end[1].fault == refused)
    }

    @Test func anAttemptOfSeveralSourcesBlamesNone() {
        history.opened(a, now: 0)
        #expect(history.isOfOne)
        history.opened(b, now: 0)
        #expect(!history.isOfOne)
        history.begin()
        #expect(history.isOfOne)
    }

    // MARK: Causes

    static let causes: [(String, TransferError, ResponseHead?, JobSource.Cause)] = [
        ("404", TransferError(.httpStatus, "404", cause: .http(status: 404)), head(404), .refused),
        (
            "an origin that is given up", TransferError(.originUnreachable, "x", cause: .http(status: 503)), nil,
            .refused
        ),
        ("a login page", TransferError(.badResponse, "200 came"), head(200, ["Content-Length": "31"]), .otherLength),
        ("the whole file", TransferError(.badResponse, "200 came"), head(200, ["Content-Length": "900"]), .failed),
        (
            "another total", TransferError(.badResponse, "x"), head(206, ["Content-Range": "bytes 0-9/901"]),
            .otherLength
        ),
        ("a shorter file", TransferError(.badResponse, "x"), head(416, ["Content-Range": "bytes */12"]), .otherLength),
        ("416 alone", TransferError(.badResponse, "x"), head(416), .refused),
        (
            "another version", TransferError(.badResponse, "x"),
            head(206, ["Content-Range": "bytes 0-9/900", "ETag": "\"2\""]), .otherVersion
        ),
        (
            "the same version", TransferError(.badResponse, "x"),
            head(206, ["Content-Range": "bytes 5-9/900", "ETag": "\"1\""]), .failed
        ),
        ("a cut", TransferError(.connectionLost, "x"), nil, .failed),
        ("silence", TransferError(.timedOut, "x"), nil, .silent),
        ("too slow", TransferError(.tooSlow, "x"), nil, .slow),
        ("wrong bytes", TransferError(.checksumMismatch, "x"), head(200, ["Content-Length": "900"]), .wrongBytes),
        ("a login", TransferError(.loginRefused, "x"), nil, .refused),
    ]

    private static func head(_ status: Int, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(status: status, fields: fields.map { HeaderField($0.key, $0.value) })
    }

    /// The cause follows from the answer; the message is that of the error.
    @Test(arguments: causes) func aFaultHasItsCause(
        _ name: String, _ error: TransferError, _ head: ResponseHead?, _ cause: JobSource.Cause
    ) {
        let fault = JobSource.Fault(error, head, total: 900, validator: Validator(etag: "\"1\""))
        #expect(fault == JobSource.Fault(cause, error.message), "\(name)")
    }
}
