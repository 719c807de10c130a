import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

extension ManySmallFilesTests {
    /// Runs thirty jobs at a server that answers once all allowed requests have arrived.
    func withTestServerLimits(_ place: Workplace, options: [String], atMost limit: Int) async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try place.jobs((0..<30).map { download(server.url("/\($0)"), to: "\($0)") })
            for index in 0..<limit { server.script("/\(index)", [.holdHead]) }
            let process = try place.command(["run", "jobs.json"] + options).start()
            try await server.waitForHeld(limit)
            #expect(server.requests.count == limit)
            server.release()
            #expect(try await process.result().exitCode == 0)
            #expect(server.peakRequests <= limit)
        }
    }
}

@Suite struct LimitTests {
    @Test func limitsOfTheJobFileHold() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try place.jobs(
                (0..<30).map { download(server.url("/\($0)"), to: "\($0)") },
                extra: #""limits": {"concurrency": 8, "perHost": 2}, "#)
            #expect(try await place.runJobs().exitCode == 0)
            #expect(server.peakRequests <= 2)
        }
    }

    @Test func theRateLimitHolds() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 1, count: 1 << 20)
            server.serve("/a", content)
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs("--limit-rate", "512K")
            #expect(result.exitCode == 0)
            let seconds = try #require(try result.events().named("job.finished").first?["seconds"]?.double)
            #expect(seconds > 1.2, "1 MiB at 512 KiB a second came in \(seconds) s")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    @Test func theRateLimitOfAJobHolds() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 1, count: 1 << 20))
            server.serve("/b", .random(seed: 1, count: 1 << 20))
            try place.jobs([
                download(server.url("/a"), to: "a", #""limitRate": "512K""#), download(server.url("/b"), to: "b"),
            ])
            let result = try await place.runJobs()
            let events = try result.events()
            let seconds = { (id: String) in events.of(id).named("job.finished").first?["seconds"]?.double ?? 0 }
            #expect(seconds("a") > 1.2 && seconds("b") < 1, "\(result)")
        }
    }

    @Test func theRequestRateOfAnOriginHoldsAndOthersDoNotWait() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            let origin = server.url("")
            try place.folder.write(
                #"{"version": 1, "origins": {"\#(origin)": {"limits": {"requestRate": "10/s"}}}}"#, to: "config.json")
            // A second name of the same machine is a different origin.
            let other = origin.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            try place.jobs(
                (0..<8).map { download(server.url("/\($0)"), to: "\($0)") }
                    + (8..<16).map { download("\(other)/\($0)", to: "\($0)") })
            let result = try await place.runJobs("--config", "config.json")
            #expect(result.exitCode == 0, "\(result)")
            let events = try result.events()
            let seconds = try #require(events.named("batch.finished").first?["seconds"]?.double)
            #expect(seconds >= 0.6, "8 requests at 10 a second took \(seconds) s")
            // All jobs of the other origin start before the fifth of this one.
            let order = events.named("job.started").compactMap { $0["id"]?.string.flatMap { Int($0) } }
            let fifth = try #require(order.firstIndex(of: order.filter { $0 < 8 }[4]))
            #expect(order[..<fifth].count { $0 >= 8 } == 8, "\(order)")
        }
    }

    @Test func theRequestRateHolds() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try place.jobs(
                (0..<15).map { download(server.url("/\($0)"), to: "\($0)") },
                extra: #""limits": {"requestRate": "10/s"}, "#)
            let result = try await place.runJobs()
            #expect(result.exitCode == 0)
            let seconds = try #require(try result.events().named("batch.finished").first?["seconds"]?.double)
            #expect(seconds >= 1, "15 requests at 10 a second took \(seconds) s")
        }
    }
}
