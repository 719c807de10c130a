import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue

/// A server that accepts or refuses uploads.
final class MoodyInbox: Sendable {
    struct State {
        /// The status of the answer for a path.
        var refusal: @Sendable (String) -> Int? = { _ in nil }
        var taken: [String] = []
        var refused: [String] = []
    }

    let awaited = AwaitedState(State())
    var taken: [String] { awaited.state.taken }
    var refused: [String] { awaited.state.refused }

    init(_ server: TestServer? = nil) {
        if let server { serve(server) }
    }

    func serve(_ server: TestServer) {
        server.handle("PUT", "/in/*") { [self] request in
            let path = String(request.path.dropFirst(4))
            guard let status = awaited.state.refusal(path) else {
                awaited.change { $0.taken.append(path) }
                return Response(status: 201)
            }
            awaited.change { $0.refused.append(path) }
            return Response(status: status)
        }
    }

    func refuse(_ refusal: @escaping @Sendable (String) -> Int?) { awaited.change { $0.refusal = refusal } }

    func wait(until condition: @escaping @Sendable (State) -> Bool) async { await awaited.wait(until: condition) }
}

extension QueueEvent {
    fileprivate var isCancelled: Bool { if case .cancelled = kind { true } else { false } }
}

/// Failed files of a watched folder: the folder has no end, so no file in it is given up for ever.
@Suite(.timeLimit(.minutes(1))) struct WatchFailedTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("failed") }

    private func times(_ first: Duration) -> WatchTimes {
        var times = WatchTimes()
        times.again.first = first
        return times
    }

    @Test(arguments: [400, 403, 404, 413, 415, 422, 423, 507])
    func aFileThatWasRefusedFollowsTheFirstSuccess(_ status: Int) async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { _ in status }
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server) { $0.settings = Sample.retries(1) }
            try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, log in
                try await folder.history("state", is: "2")
                let hasTime = try folder.database.value("SELECT notBefore IS NOT NULL FROM job")
                #expect(hasTime == "1")
                inbox.refuse { _ in nil }
                try folder.write("two", to: "in/b")
                await log.wait(forConfirmed: "a", "b")
            }
            #expect(inbox.taken == ["b", "a"])
        }
    }

    @Test func aRefusedFileComesBackAutomatically() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            let count = Mutex(0)
            inbox.refuse { _ in
                count.withLock { count in
                    count += 1
                    return count < 4 ? 403 : nil
                }
            }
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server), times: times(.milliseconds(20))) { _, _, log in
                await log.wait(forConfirmed: "a")
                let failures = try folder.database.value("SELECT failures FROM ledger")
                #expect(failures == "3")
            }
            #expect(inbox.refused.count == 3 && inbox.taken == ["a"])
        }
    }

    @Test func oneOfManyRefusedFilesIsTriedAfterASuccessAndNotAll() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { $0.hasPrefix("no") ? 403 : nil }
            for number in 0..<100 { try folder.write("x", to: "in/no\(number)") }
            try await withWatch(folder, try folder.watchSpec(server), times: times(.seconds(3600))) { _, _, log in
                try await folder.history("count(*)", "state = 2", is: "100")
                for number in 0..<20 {
                    try folder.write("x", to: "in/ok\(number)")
                    await log.wait(forConfirmed: "ok\(number)")
                }
                // The end of the probe is recorded.
                try await folder.history("max(failures)", is: "2")
                try await folder.history("count(*)", "state = 2", is: "100")
                #expect(inbox.refused.count == 101)
            }
        }
    }

    @Test func aStartAsksAboutOneOfManyRefusedFiles() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { _ in 415 }
            let spec = try folder.watchSpec(server)
            for number in 0..<30 { try folder.write("x", to: "in/f\(number)") }
            try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, _ in
                try await folder.history("count(*)", "state = 2", is: "30")
            }
            for round in 1...3 {
                try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, log in
                    try await folder.history("sum(failures)", is: "\(30 + round)")
                    await log.caughtUp()
                    try await folder.history("count(*)", "state = 2", is: "30")
                }
            }
            #expect(inbox.refused.count == 33 && Set(inbox.refused.suffix(3)).count == 3)
            inbox.refuse { _ in nil }
            try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, log in
                await log.wait(forConfirmations: 30)
            }
        }
    }

    @Test func newRulesRetryAllRefusedFiles() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { _ in 415 }
            var spec = try folder.watchSpec(server)
            for number in 0..<5 { try folder.write("x", to: "in/f\(number)") }
            try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, _ in
                try await folder.history("count(*)", "state = 2", is: "5")
            }
            spec.settings.headers = [.init(name: "Content-Type", value: .literal("text/plain"))]
            try await withWatch(folder, spec, times: times(.seconds(3600))) { _, _, _ in
                try await folder.history("sum(failures)", "state = 2", is: "10")
            }
        }
    }

    @Test func allFollowWhenTheServerTakesThemAgain() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { _ in 403 }
            let names = (100..<300).map { "f\($0)" }
            for (number, name) in names.enumerated() {
                try folder.write(name, to: "in/" + name)
                try folder.setTime("in/" + name, seconds: 1_000_000 + number)
            }
            let limits = BatchLimits(concurrency: 1)
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec, times: times(.seconds(3600)), limits: limits) { queue, _, log in
                try await folder.history("count(*)", "state = 2", is: "200")
                inbox.refuse { _ in nil }
                try folder.write("x", to: "in/new")
                await log.wait(forConfirmations: 201)
                let status = try #require(try queue.sqlite().statuses(name: nil).first)
                #expect(status.failed == 0 && status.done == 201 && status.again == nil)
            }
            #expect(inbox.taken == ["new"] + names)
        }
    }

    /// The wait does not end with any job's attempts, and the first file goes first.
    @Test func anUnavailableServerIsWaitedForWithoutLimit() async throws {
        let restarts = try ServerThatRestarts()
        let inbox = try restarts.start()
        defer { restarts.stop() }
        restarts.stop()
        var spec = WatchSpec(folder: try folder.folder("in"), url: restarts.url("/in/{path}"))
        spec.settle = .milliseconds(20)
        spec.settings = Sample.retries(2)
        for number in 0..<20 {
            try folder.write("x", to: "in/f\(number)")
            try folder.setTime("in/f\(number)", seconds: 1_000_000 + number)
        }
        try await withWatch(folder, spec, times: times(.seconds(3600))) { queue, _, log in
            let probes = AwaitedState(0)
            _ = queue.observe { event in
                if case .retrying = event.kind { probes.change { $0 += 1 } }
            }
            await probes.wait { $0 >= 40 }
            let failed = try folder.database.value("SELECT count(*) FROM job WHERE state = 6")
            #expect(failed == "0")
            try restarts.restart()
            await log.wait(forConfirmations: 20)
            try folder.write("x", to: "in/new")
            await log.wait(forConfirmed: "new")
        }
        #expect(inbox.puts.count == 21 && inbox.puts.values.allSatisfy { $0.count == 1 })
    }

    @Test func aFailedFileOfAWatchedFolderCanBeCancelled() async throws {
        try await withTestServer { server in
            let inbox = MoodyInbox(server)
            inbox.refuse { _ in 403 }
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec, times: times(.seconds(3600))) { queue, watched, log in
                try await folder.history("state", is: "2")
                let events = EventLog(queue)
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(.cancel, batch: watched.batch, job: "a@1")
                try await events.wait { $0.isCancelled }
                inbox.refuse { _ in nil }
                try folder.write("two", to: "in/b")
                await log.wait(forConfirmed: "b")
                try folder.write("three", to: "in/c")
                await log.wait(forConfirmed: "c")
                #expect(inbox.taken == ["b", "c"])
            }
        }
    }
}
