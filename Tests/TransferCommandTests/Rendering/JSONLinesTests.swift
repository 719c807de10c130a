import Foundation
import Testing
import TransferCore
import TransferQueue

@testable import transfer

@Suite struct JSONLinesTests {
    /// An event of each kind, with the fields that only it has.
    static let all: [(kind: QueueEvent.Kind, name: String, fields: Set<String>)] = [
        (.batchStarted(totals(jobs: 3, kept: 1)), "batch.started", counts),
        (
            .batchProgress(
                progress(
                    totals(jobs: 3), active: 1, waiting: 2, rate: 5, eta: .milliseconds(1500),
                    reason: .host(origin: "https://a.example", status: 429, message: "m", remaining: .seconds(42)))),
            "batch.progress",
            counts.union(["active", "waiting", "rate", "eta", "for", "origin", "status", "reason", "delay"])
        ),
        (
            .batchWaiting(.disk("full", remaining: .seconds(1)), transfers: 0), "batch.waiting",
            ["for", "reason", "delay"]
        ),
        (
            .batchFinished(totals(jobs: 3), duration: .milliseconds(702_250)), "batch.finished",
            counts.union(["seconds"])
        ),
        (
            .started(job: "a", JobStart(isUpload: true, url: "https://a.example/", offset: 7, attempt: 2)),
            "job.started",
            ["id", "direction", "url", "offset", "attempt"]
        ),
        (
            .progress(job: "a", JobProgress(completed: 1, total: 2, rate: 3, phase: .saving)), "job.progress",
            ["id", "completed", "total", "rate", "phase"]
        ),
        (
            .retrying(job: "a", delay: .milliseconds(1050), notFound), "job.retrying",
            ["id", "delay", "reason", "code", "status"]
        ),
        (.restarted(job: "a", reason: "changed"), "job.restarted", ["id", "reason"]),
        (
            .source(
                job: "a",
                JobSource(
                    url: "https://b.example/a", connections: 0, bytes: 3, rate: 2, state: .paused,
                    fault: .init(.refused, "503 Service Unavailable"), again: .seconds(5))),
            "job.source",
            ["id", "url", "host", "connections", "bytes", "rate", "state", "cause", "reason", "again"]
        ),
        (
            .congestion(job: "a", CongestionUse(name: "bbr", reason: .refused(1))), "job.congestion",
            ["id", "congestion", "reason"]
        ),
        (.waiting(job: "a", .dependency("b")), "job.waiting", ["id", "for", "need"]),
        (.finished(receipt("a")), "job.finished", received),
        (.kept(receipt("a")), "job.kept", received),
        (.skipped(job: "a", need: "b"), "job.skipped", ["id", "need"]),
        (.cancelled(job: "a"), "job.cancelled", ["id"]),
        (.dropped(job: "a"), "job.dropped", ["id"]),
        (failure("a", notFound, attempts: 3), "job.failed", ["id", "code", "message", "status", "host", "attempts"]),
        (.batchWaiting(.network("offline"), transfers: 3), "batch.waiting", ["for", "reason", "transfers"]),
        (
            .batchContinues(links: ["eth0"], after: .seconds(8), transfers: 3), "batch.continues",
            ["links", "seconds", "transfers"]
        ),
    ]

    static let counts: Set<String> = [
        "jobs", "kept", "completed", "failed", "skipped", "cancelled", "remaining", "bytes",
    ]
    static let received: Set<String> = [
        "id", "url", "to", "direction", "bytes", "transferred", "seconds", "rate", "digest", "validator", "finalURL",
        "path",
        "status",
        "attempts",
    ]

    func parse(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func everyKindIsOneObjectWithItsFields() throws {
        for (kind, name, fields) in Self.all {
            let object = try parse(QueueJSON.line(event(kind, after: 0.25)))
            #expect(object["event"] as? String == name)
            #expect(object["time"] as? String == "2026-11-20T02:00:00.250Z")
            #expect(object["batch"] as? String == "nightly")
            #expect(Set(object.keys) == fields.union(["event", "time", "batch"]), "\(name)")
        }
    }

    @Test func noKeyStandsTwice() {
        for (kind, _, _) in Self.all {
            let line = QueueJSON.line(event(kind))
            let keys = line.matches(of: /[{,]"([a-zA-Z]+)":/).map { String($0.1) }
            #expect(Set(keys).count == keys.count, "\(line)")
        }
    }

    @Test func valuesAreExact() throws {
        let retry = try parse(QueueJSON.line(event(Self.all[6].kind)))
        #expect(retry["delay"] as? Double == 1.05)
        #expect(retry["code"] as? String == "httpStatus")
        let done = QueueJSON.line(event(.finished(receipt("a", isUpload: true))))
        #expect(
            done == #"{"event":"job.finished","time":"2026-11-20T02:00:00.000Z","batch":"nightly","id":"a","#
                + #""url":"https://cdn.example/a","to":"https://cdn.example/a","#
                + #""direction":"upload","bytes":4096,"transferred":4096,"seconds":2,"rate":2048,"#
                + #""digest":"md5:d41d8cd98f00b204e9800998ecf8427e","validator":"\"b7\"","#
                + #""finalURL":"https://cdn.example/a","path":"/srv/a","status":200,"attempts":1}"#)
        var ended = event(.cancelled(job: "a"))
        ended.cursor = 9
        #expect(try parse(QueueJSON.line(ended))["cursor"] as? Int == 9)
    }

    /// Each end and each report of progress has the sources, where there is more than one.
    @Test func sourcesAreAList() throws {
        let sources = [
            JobSource(url: "https://a.example/a", connections: 4, bytes: 9, rate: 3),
            JobSource(
                url: "https://b.example/a", connections: 1, state: .dropped, fault: .init(.otherLength, "another file")),
        ]
        let text =
            #""sources":[{"url":"https://a.example/a","host":"a.example","connections":4,"bytes":9,"rate":3,"#
            + #""state":"used"},{"url":"https://b.example/a","host":"b.example","connections":1,"bytes":0,"#
            + #""state":"dropped","cause":"otherLength","reason":"another file"}]"#
        var done = receipt("a")
        done.sources = sources
        var failure = JobFailure(batch: "b", job: "a", error: notFound, attempts: 1, host: nil)
        failure.sources = sources
        var progress = JobProgress(completed: 1, total: 2, rate: 3, phase: .transferring)
        progress.sources = sources
        for kind in [.finished(done), .kept(done), .failed(failure), .progress(job: "a", progress)] as [QueueEvent.Kind]
        {
            let line = QueueJSON.line(event(kind))
            _ = try parse(line)
            #expect(line.contains(text), "\(line)")
        }
        #expect(QueueJSON.line(event(.progress(job: "a", progress))).contains(#""connections":5,"#))
    }

    @Test func everyStringComesBackAsItWas() throws {
        let hostile = String(String.UnicodeScalarView((0..<0x180).compactMap(Unicode.Scalar.init)))
        for text in [hostile, "日本😀\u{2028}", "\"\\/", "", String(decoding: [0xFF, 0x41, 0xC2], as: UTF8.self)] {
            let line = QueueJSON.line(event(.restarted(job: text, reason: text), batch: text))
            #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
            #expect(!line.unicodeScalars.contains { (0x80..<0xA0).contains($0.value) })
            let object = try parse(line)
            #expect(object["id"] as? String == text)
            #expect(object["reason"] as? String == text)
            #expect(object["batch"] as? String == text)
        }
    }

    @Test func numbersOutsideReasonStayJSON() throws {
        var odd = receipt("a")
        odd.seconds = .infinity
        _ = try parse(QueueJSON.line(event(.finished(odd))))
        odd.seconds = .nan
        _ = try parse(QueueJSON.line(event(.finished(odd))))
        odd.seconds = 1e-300
        odd.transferred = .max
        _ = try parse(QueueJSON.line(event(.finished(odd))))
    }

    @Test func eventsAreAppendedALineEach() {
        var bytes = Array("before\n".utf8)
        QueueJSON.append(event(.cancelled(job: "a")), to: &bytes)
        QueueJSON.append(event(.cancelled(job: "b")), to: &bytes)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[0] == "before")
        #expect(lines[3] == "")
    }
}
