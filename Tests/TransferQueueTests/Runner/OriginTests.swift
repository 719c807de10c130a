import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Origins that cannot be reached or ask for a pause, in a whole run.
@Suite(.timeLimit(.minutes(1))) struct OriginTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 1000)

    init() throws { folder = try TemporaryFolder("origin") }

    func jobs(_ server: TestServer, _ names: [String], settings: JobSettings = Sample.quick) -> [JobSpec] {
        names.map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)"), id: $0, settings: settings) }
    }

    @Test func retryAfterPausesOnlyTheWholeOrigin() async throws {
        try await withTestServer { server in
            try await withTestServer { other in
                for name in ["a", "b", "c"] { server.serve("/\(name)", content) }
                for name in ["d", "e"] { other.serve("/\(name)", content) }
                server.script("/a", [.status(503, headers: ["Retry-After": "1"])])
                try await withQueue(folder, limits: BatchLimits(perHost: 1)) { queue in
                    let log = EventLog(queue)
                    let clock = ContinuousClock()
                    let start = clock.now
                    let totals = try await queue.complete(
                        [jobs(server, ["a", "b", "c"]), jobs(other, ["d", "e"])].flatMap { $0 })
                    #expect(totals.completed == 5)
                    #expect(clock.now - start >= .seconds(1))
                    let order = log.events.compactMap(\.end).map(\.job)
                    #expect(Set(order.prefix(2)) == ["d", "e"], "the pause of one origin is no other's")
                    #expect(
                        log.events.contains {
                            if case .retrying("a", let delay, _) = $0.kind { delay >= .seconds(1) } else { false }
                        })
                    #expect(server.requests.count == 4)
                }
            }
        }
    }

    @Test func anOriginThatIsDownEndsTheBatchWithoutBurningEveryBudget() async throws {
        let port = try RefusingPort()
        let names = (0..<40).map { "\($0)" }
        try await withQueue(folder, limits: BatchLimits(perHost: 4)) { queue in
            let log = EventLog(queue)
            let jobs = names.map {
                Sample.download(port.url + "/\($0)", to: folder.path("out/\($0)"), id: $0, settings: Sample.retries(2))
            }
            let totals = try await queue.complete(jobs, limit: .seconds(20))
            #expect(totals.failed == 40)
            #expect(log.ends.count == 40 && log.ends.values.allSatisfy { $0.count == 1 })
            let attempts = log.events.reduce(0) { if case .started = $1.kind { $0 + 1 } else { $0 } }
            #expect(attempts < 40, "most were given up untried")
        }
    }

    /// The server takes eight requests at a time: most of the simultaneous requests are refused before the first answer
    /// comes.
    @Test func refusalsOfRequestsThatWereUnderWayTogetherCountOnce() async throws {
        let active = Mutex(0)
        try await withTestServer { server in
            server.handle("GET", "/*") { request in
                let isTaken = active.withLock { active in
                    if active < 8 { active += 1 } else { return false }
                    return true
                }
                guard isTaken else { return Response(status: 429) }
                // A place is taken for the duration of an answer, which is longer than all attempts of a refused job.
                usleep(400_000)
                active.withLock { $0 -= 1 }
                return Response(body: .text(request.path))
            }
            // All attempts of a job take less time than the first answer.
            var settings = Sample.retries(10)
            (settings.retry.scale, settings.retry.maxDelay) = (.milliseconds(10), .milliseconds(20))
            try await withQueue(folder, limits: BatchLimits(concurrency: 32, perHost: 32)) { queue in
                let names = (0..<40).map { "\($0)" }
                let totals = try await queue.complete(jobs(server, names, settings: settings), limit: .seconds(30))
                #expect(totals.completed == 40, "\(totals)")
            }
            #expect(server.requests.count > 40, "some were refused")
        }
    }

    @Test func aFileThatIsRefusedForEverFailsNoOther() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in
                // An answer takes a while, so that other requests are under way at each refusal.
                usleep(10_000)
                return request.path == "/bad" ? Response(status: 503) : Response(body: .text(request.path))
            }
            try await withQueue(folder, limits: BatchLimits(concurrency: 4, perHost: 4)) { queue in
                let names = ["bad"] + (0..<60).map { "\($0)" }
                let totals = try await queue.complete(
                    jobs(server, names, settings: Sample.retries(2)), limit: .seconds(30))
                #expect(totals.completed == 60 && totals.failed == 1, "\(totals)")
            }
        }
    }

    @Test func aJobWithoutPatienceDoesNotEndTheOthers() async throws {
        try await withTestServer { server in
            for name in ["hasty", "patient"] { server.serve("/\(name)", content) }
            server.script("/hasty", [.status(503, headers: ["Retry-After": "1"])])
            try await withQueue(folder, limits: BatchLimits(perHost: 1)) { queue in
                let log = EventLog(queue)
                let hasty = jobs(server, ["hasty"], settings: Sample.retries(0))
                try await queue.complete(hasty + jobs(server, ["patient"]))
                #expect(log.ends == ["hasty": ["failed httpStatus"], "patient": ["done"]])
            }
        }
    }

    @Test func anOriginThatWasGivenUpIsTriedForJobsThatComeLater() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.serve("/y", content)
            server.script("/x", [.status(429, headers: ["Retry-After": "1"])])
            try await withQueue(folder) { queue in
                let run = Task { try await queue.run() }
                let first = try await queue.submit(
                    Sample.download(server.url("/x"), to: folder.path("x"), settings: Sample.retries(0)), batch: "one")
                await #expect(throws: TransferError.self) { try await within { try await first.receipt() } }
                let second = try await queue.submit(
                    Sample.download(server.url("/y"), to: folder.path("y")), batch: "two")
                let receipt = try await within { try await second.receipt() }
                #expect(receipt.bytes == 1000)
                run.cancel()
                try await run.value
            }
        }
    }

    /// The ways in which the job that probes a paused origin may end without an answer from it.
    enum Probe: String, CaseIterable {
        case keptBySkip, keptByChecksum, destinationInTheWay, secretMissing, sourceMissing
    }

    @Test(arguments: Probe.allCases)
    func aProbeThatEndsWithoutAskingLeavesTheOriginToTheNext(_ probe: Probe) async throws {
        try await withTestServer { server in
            for name in ["a", "z"] { server.serve("/\(name)", content) }
            server.script("/a", [.status(503, headers: ["Retry-After": "1"])])
            try folder.write("x", to: "out/p")
            var job = Sample.download(server.url("/p"), to: folder.path("out/p"), id: "p")
            switch probe {
            case .keptBySkip:
                job = Sample.download(server.url("/p"), to: folder.path("out/p"), id: "p", ifExists: .skip)
            case .keptByChecksum:
                let digest = Checksum(.md5, hex: "9dd4e461268c8034f5c8564e155c67a6")
                job = Sample.download(server.url("/p"), to: folder.path("out/p"), id: "p", checksum: digest)
            case .destinationInTheWay: break
            case .secretMissing:
                job = Sample.download(server.url("/p"), to: folder.path("out/q"), id: "p")
                job.settings.headers = [.init(name: "Authorization", value: .environment("NOPE"))]
            case .sourceMissing: job = Sample.upload(folder.path("nope"), to: server.url("/p"), id: "p")
            }
            try await withQueue(folder, limits: BatchLimits(perHost: 1)) { queue in
                let log = EventLog(queue)
                // "a" pauses the origin and waits longer than the pause itself. Then "p" may probe, and then "z".
                var first = jobs(server, ["a"])[0]
                first.priority = 3
                job.priority = 2
                try await queue.complete([first, job] + jobs(server, ["z"]), limit: .seconds(30))
                #expect(log.ends["z"] == ["done"] && log.ends["a"] == ["done"])
                #expect(log.ends["p"]?.count == 1)
            }
        }
    }

    @Test(.ofAFolder, arguments: [QueueVerb.pause, .cancel])
    func aStoppedProbeLeavesTheOriginToTheNext(_ verb: QueueVerb) async throws {
        try await withTestServer { server in
            for name in ["a", "p", "z"] { server.serve("/\(name)", content) }
            server.script("/a", [.status(503, headers: ["Retry-After": "2"])])
            server.script("/p", [.holdHead])
            try await withQueue(folder, limits: BatchLimits(perHost: 1)) { queue in
                let log = EventLog(queue)
                var list = jobs(server, ["a", "p", "z"])
                list[0].priority = 3
                list[1].priority = 2
                let staged = try await queue.stage(list)
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(verb, batch: "b", job: "p")
                try await log.wait { $0.end?.job == "z" }
                try await log.wait { $0.end?.job == "a" }
                if verb == .pause { queue.stop() }
                let summary = try await within(.seconds(30)) { try await run.valueOrEnd() }
                #expect(summary.left == (verb == .pause ? 1 : 0))
                #expect(log.ends["p"] == (verb == .pause ? nil : ["cancelled"]))
            }
        }
    }

    @Test func transientAnswersAreTriedAgainUpToTheLimit() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", Array(repeating: .status(500), count: 3))
            server.script("/y", [], afterwards: .status(502))
            server.script("/n", [], afterwards: .status(404))
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete(jobs(server, ["x", "y", "n"], settings: Sample.retries(3)))
                #expect(log.ends == ["x": ["done"], "y": ["failed httpStatus"], "n": ["failed httpStatus"]])
                #expect(server.requests(to: "/x").count == 4)
                #expect(server.requests(to: "/y").count == 4)
                #expect(server.requests(to: "/n").count == 1)
                let failures = try queue.store.failures(batch: "b", limit: 9)
                #expect(failures.first { $0.job == "y" }?.attempts == 4)
                #expect(failures.first { $0.job == "y" }?.status == 502)
            }
        }
    }

    @Test func everyMirrorGetsItsTurn() async throws {
        let down = try RefusingPort()
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/gone", [], afterwards: .status(404))
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let mirrors = [server.url("/gone"), down.url + "/x", server.url("/x")]
                let job = JobSpec(
                    id: "x", work: .download(.init(urls: mirrors, destination: folder.path("x"))),
                    settings: Sample.quick)
                let all = JobSpec(
                    id: "none",
                    work: .download(
                        .init(urls: [server.url("/gone"), server.url("/gone?2")], destination: folder.path("y"))),
                    settings: Sample.quick)
                try await queue.complete([job, all])
                #expect(log.ends == ["x": ["done"], "none": ["failed httpStatus"]])
                #expect(server.requests(to: "/gone").count == 3, "what failed for good is not asked again")
            }
        }
    }
}
