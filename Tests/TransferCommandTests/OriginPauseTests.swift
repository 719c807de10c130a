import Foundation
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

/// Servers that ask for a pause, or that cannot be reached: all their jobs pause together.
@Suite struct OriginPauseTests {
    /// The arrival times of requests, by a clock of the test's own.
    final class Arrivals: Sendable {
        private let times = Mutex<[(path: String, time: ContinuousClock.Instant)]>([])
        func add(_ path: String) { times.withLock { $0.append((path, .now)) } }
        var all: [(path: String, time: ContinuousClock.Instant)] { times.withLock { $0 } }
    }

    private func noted(_ server: TestServer, first: Response) -> Arrivals {
        let arrivals = Arrivals()
        server.handle("GET", "/*") { request in
            arrivals.add(request.path)
            return arrivals.all.filter { $0.path != "/o" }.count == 1 ? first : Response(body: .text("content"))
        }
        return arrivals
    }

    private func check(_ retryAfter: String, status: Int, atLeast pause: Duration) async throws {
        try await withTestServer { server in
            try await withTestServer { other in
                let place = try Workplace()
                let arrivals = noted(server, first: Response(status: status, headers: ["Retry-After": retryAfter]))
                other.handle("GET", "/o") { request in
                    arrivals.add(request.path)
                    return Response(body: .text("o"))
                }
                let jobs = (0..<5).map { download(server.url("/\($0)"), to: "f\($0)") }
                try place.jobs(jobs + [download(other.url("/o"), to: "o")])
                // One job runs at a time, so that the first answer comes before the second request.
                let result = try await place.runJobs("--per-host", "1")
                #expect(result.exitCode == 0, "\(result)")
                #expect(arrivals.all.prefix(2).contains { $0.path == "/o" }, "another origin goes on meanwhile")
                let all = arrivals.all.filter { $0.path != "/o" }
                #expect(all.count == 6)
                #expect(all[1].time - all[0].time >= pause, "\(all[1].time - all[0].time)")
                let waits = try result.events().filter {
                    ["batch.waiting", "batch.progress"].contains($0["event"]?.string)
                }
                #expect(
                    waits.contains { $0["for"]?.string == "host" && $0["status"]?.int == Int64(status) }, "\(result)")
                #expect(
                    result.standardError.contains("127.0.0.1:\(server.port): \(status)")
                        && result.standardError.contains("Retry-After"), "\(result)")
            }
        }
    }

    @Test(arguments: [429, 503]) func retryAfterSecondsPausesTheWholeOrigin(_ status: Int) async throws {
        try await check("2", status: status, atLeast: .seconds(2))
    }

    @Test func retryAfterDatePausesTheWholeOrigin() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up) + 4)
        let left = date.timeIntervalSinceNow
        // The bound leaves out the time that the process needs until its request arrives.
        try await check(formatter.string(from: date), status: 503, atLeast: .seconds(left - 2.2))
    }

    /// Any number of waits that a server asks for spends no attempt.
    @Test(arguments: [413, 429, 503]) func waitsThatAServerAsksForSpendNoAttempt(_ status: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", (0..<5).map { _ in .status(status, headers: ["Retry-After": "0"]) })
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 1, "scale": "10ms"}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 6)
            let events = try result.events()
            #expect(events.named("job.finished").first?["attempts"]?.int == 1, "\(result)")
        }
    }

    /// A server's requested wait × the maximum wait in all: the job ends, and reports the reason.
    @Test(arguments: ["0", "1", "1000000000000", "1000000000000000000000000000000", "Fri, 31 Dec 2999 23:59:59 GMT"])
    func aServerThatAsksForEverIsWaitedForUpToTheJobsLimit(_ retryAfter: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(429, headers: ["Retry-After": retryAfter]))
            try place.jobs([
                download(
                    server.url("/a"), to: "a",
                    #""retry": {"limit": 2, "scale": "100ms", "maxDelay": "500ms", "maxWait": "2s", "jitter": false}"#)
            ])
            let start = ContinuousClock.now
            let result = try await place.runJobs()
            let time = ContinuousClock.now - start
            #expect(result.exitCode == 1 && time >= .seconds(2), "\(time): \(result)")
            // The waits are 0.1, 0.2 and 0.4 seconds, and then half a second each.
            #expect(server.requests.count >= 2 && server.requests.count <= 7)
            let end = try #require(try result.events().named("job.failed").first)
            #expect(end["status"]?.int == 429 && end["message"]?.string?.contains("retry.maxWait") == true, "\(end)")
        }
    }

    /// The next process also keeps a requested pause.
    @Test func aPauseSurvivesARestart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.status(503, headers: ["Retry-After": "3600"])])
            try place.jobs([download(server.url("/a"), to: "a")])
            let first = try place.startJobs()
            try await first.event("job.retrying", id: "a")
            first.kill(SIGTERM)
            #expect(try await first.result().signal == SIGTERM)
            let second = try place.startJobs()
            try await second.event("batch.progress")
            #expect(server.requests.count == 1)
            second.kill(SIGTERM)
            _ = try await second.result()
        }
    }

    @Test func aWaitingJobHoldsNoSlot() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            server.serve("/b", .text("b"))
            try place.jobs([
                download(server.url("/a"), to: "a", #""retry": {"scale": "1h", "maxDelay": "1h"}, "priority": 5"#),
                download(server.url("/b"), to: "b"),
            ])
            let process = try place.startJobs("-j", "1")
            try await process.event("job.finished", id: "b")
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    /// 200 jobs for a server that is down: it is probed by single requests, and a job's budget is not spent by other
    /// jobs.
    @Test func aDeadOriginDoesNotBurnEveryJobsBudget() async throws {
        let place = try Workplace()
        let port = try LoopbackPort.free()
        let jobs = (0..<200).map { download("http://127.0.0.1:\(port)/\($0)", to: "f\($0)") }
        try place.jobs(jobs, extra: #""defaults": {"retry": {"limit": 2, "scale": "100ms", "maxDelay": "100ms"}}, "#)
        var command = place.command(["run", "jobs.json", "--json", "-j", "4"])
        command.timeout = .seconds(30)
        let result = try await command.run()
        #expect(result.exitCode == 1, "\(result)")
        // No server listens there: the events count the attempts.
        let events = try result.events()
        #expect(events.named("job.failed").count == 200)
        #expect(events.named("job.started").count < 30, "\(events.named("job.started").count) attempts")
        #expect(events.named("job.failed").contains { $0["code"]?.string == "originUnreachable" })
    }

    @Test func allJobsEndWhenTheServerIsBack() async throws {
        let place = try Workplace()
        let port = try LoopbackPort.free()
        let jobs = (0..<50).map { download("http://127.0.0.1:\(port)/\($0)", to: "f\($0)") }
        try place.jobs(jobs, extra: #""defaults": {"retry": {"limit": 1000, "scale": "50ms", "maxDelay": "50ms"}}, "#)
        let process = try place.startJobs("-j", "4")
        try await process.event("job.retrying")
        try await withTestServer(
            on: .ipv4(port: port),
            prepare: { $0.handle("GET", "/*") { _ in Response(body: .text("content")) } }
        ) { server in
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 50)
        }
    }
}
