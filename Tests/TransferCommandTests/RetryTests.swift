import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The failures that are retried, the number of retries, and the record of them.
@Suite struct RetryTests {
    /// The bytes of earlier attempts do not count for the rate of the rest.
    @Test func theRateIsThatOfTheBytesThatCome() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.random(seed: 5, count: 12 << 20), etag: "\"1\""))
            server.script("/a", [.cut(after: 8 << 20), .stall(after: 1000)])
            try place.jobs([download(server.url("/a"), to: "a", #""id": "a""#)])
            let process = try place.startJobs("--json-progress")
            var (goesOn, count) = (false, 0)
            try await process.line(.standardOutput) { line in
                if line.contains(#""job.started""#), !line.contains(#""offset":0,"#) { goesOn = true }
                if goesOn, line.contains(#""job.progress""#) { count += 1 }
                return count == 2
            }
            process.kill(SIGTERM)
            let events = try await process.result().events()
            let second = try #require(events.lastIndex { ($0["offset"]?.int ?? 0) > 0 })
            for report in [JSONValue](events[second...]).named("job.progress") {
                #expect((report["completed"]?.int ?? 0) > 7 << 20 && (report["rate"]?.int ?? 0) < 1 << 20, "\(report)")
            }
        }
    }

    @Test(arguments: [408, 425, 429, 500, 503, 520, 599]) func aPassingFaultIsTriedAgain(_ status: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.status(status), .status(status)])
            try place.jobs([download(server.url("/a"), to: "a")])
            // The pause of a whole origin is the queue's own; the pause of a job is zero here.
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 3)
            let events = try result.events()
            #expect(events.named("job.retrying").map { $0["status"]?.int } == [Int64(status), Int64(status)])
            #expect(events.named("job.started").map { $0["attempt"]?.int } == [1, 2, 3])
            #expect(events.named("job.finished").first?["attempts"]?.int == 3)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 405, 410, 451, 501, 505])
    func aLastingFaultIsNot(_ status: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(status))
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1)
            #expect(server.requests.count == 1)
            let end = try #require(try result.events().named("job.failed").first)
            #expect(end["status"]?.int == Int64(status) && end["attempts"]?.int == 1)
            #expect(end["host"]?.string == "127.0.0.1:\(server.port)")
            #expect(result.standardError.contains(", not retried\n"), "\(result)")
            #expect(try place.folder.files().filter { $0.hasPrefix("a") } == [])
        }
    }

    static let dropped: [Fault] = [
        .closeBeforeHead, .resetBeforeHead, .cut(after: 1000), .reset(after: 1000), .garbage(), .contentLength(off: 10),
        Fault.chunked(size: 1000).and(.cut(after: 1500)),
    ]

    @Test(arguments: dropped.indices) func aDroppedConnectionIsTriedAgain(_ index: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 6, count: 100_000)
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", [Self.dropped[index]])
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    @Test(arguments: [0, 1, 3]) func theLimitCountsRetries(_ limit: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": \#(limit), "scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1)
            #expect(server.requests.count == limit + 1)
            #expect(try result.events().named("job.failed").first?["attempts"]?.int == Int64(limit + 1))
            #expect(result.standardError.contains("given up after \(limit + 1) attempt"), "\(result)")
        }
    }

    @Test func statusesOfTheJobFileCount() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.status(404)])
            server.script("/b", [], afterwards: .status(500))
            let retry = #""retry": {"statusCodes": [404], "scale": 0}"#
            try place.jobs([download(server.url("/a"), to: "a", retry), download(server.url("/b"), to: "b", retry)])
            let result = try await place.runJobs()
            #expect(try result.events().ends == ["a": "finished", "b": "failed"], "\(result)")
            #expect(server.requests(to: "/b").count == 1)
        }
    }

    @Test func progressStartsTheCountAnew() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 7, count: 1_000_000)
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", Array(repeating: .cut(after: 100_000), count: 9))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 1, "scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 10 && server.bytesSent("/a") == 1_000_000)
        }
    }

    @Test func aServerThatGivesOneByteATimeIsNotEndless() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 7, count: 1_000_000), etag: "\"a1\"")
            server.script("/a", [], afterwards: .cut(after: 1))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 3, "scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == 4)
        }
    }

    /// A file that cannot be resumed is fetched from its first byte each time, and makes no progress.
    @Test func aServerThatBreaksOffEachTimeIsNotEndless() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.random(seed: 7, count: 1_000_000)))
            server.script("/a", [], afterwards: .cut(after: 400_000))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 3, "scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == 4)
        }
    }

    @Test func attemptsSurviveARestart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            try place.jobs([
                download(server.url("/a"), to: "a", #""retry": {"limit": 4, "scale": "1h", "maxDelay": "1h"}"#)
            ])
            let process = try place.startJobs()
            try await process.event("job.retrying", id: "a")
            process.kill(SIGKILL)
            _ = try await process.result()
            #expect(server.requests.count == 1)

            // The job is unchanged in the second run: it still waits for its time. (The file's jobs get a fresh budget
            // only when they failed.)
            let second = try place.startJobs()
            try await second.event("batch.started")
            try await until("the wait to be seen") { try await place.status().first?["waiting"]?.int == 1 }
            #expect(server.requests.count == 1, "the wait before the second attempt survives too")
            second.kill(SIGTERM)
            _ = try await second.result()
        }
    }

    /// The second process continues the count of the first.
    @Test func theCountContinuesAfterARestart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            try place.jobs([
                download(
                    server.url("/a"), to: "a",
                    #""retry": {"limit": 3, "scale": "1s", "maxDelay": "1s", "jitter": false}"#)
            ])
            let process = try place.startJobs()
            try await process.event("job.started", id: "a") { $0["attempt"]?.int == 3 }
            process.kill(SIGKILL)
            _ = try await process.result()
            let before = server.requests.count
            let result = try await place.runJobs()
            #expect(result.exitCode == 1)
            #expect(try result.events().named("job.failed").first?["attempts"]?.int == 4, "\(result)")
            #expect((1...2).contains(server.requests.count - before), "\(server.requests.count) requests")
        }
    }

    @Test func aFailedJobHasAFreshBudgetInTheNextRun() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 2, "scale": 0}"#)])
            #expect(try await place.runJobs().exitCode == 1)
            #expect(server.requests.count == 3)
            #expect(try await place.runJobs().exitCode == 1)
            #expect(server.requests.count == 6)
        }
    }

    @Test func aTransferThatIsTooSlowIsGivenUp() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 1, count: 50_000), etag: "\"a1\"")
            server.script("/a", [.stall(after: 10_000)])
            try place.jobs([download(server.url("/a"), to: "a", #""lowSpeed": {"rate": 1000, "time": "1s"}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let retrying = try #require(try result.events().named("job.retrying").first)
            #expect(["tooSlow", "timedOut"].contains(retrying["code"]?.string), "\(result)")
            #expect(server.requests.last?.range == "bytes=10000-")
        }
    }

    @Test func aJobHasItsTime() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 1, count: 1_000_000))
            server.script("/a", [], afterwards: .trickle(1000, every: .milliseconds(50)))
            try place.jobs([download(server.url("/a"), to: "a", #""maxTime": "500ms", "retry": {"limit": 0}"#)])
            let result = try await place.runJobs()
            #expect(try result.events().named("job.failed").first?["code"]?.string == "timedOut", "\(result)")
        }
    }
}
