import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

/// Commands that arrive while the store and the runner differ in their state: each command takes effect all the same.
@Suite(.timeLimit(.minutes(1))) struct CommandRaceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("race") }

    /// Opens a queue that has jobs and does not run them yet.
    private func withBatch(
        _ server: TestServer, _ names: [String], _ body: (JobQueue, StagedBatch, EventLog) async throws -> Void
    ) async throws {
        server.handle("GET", "/*") { _ in Response(body: .text("x")) }
        try await withQueue(folder) { queue in
            let log = EventLog(queue)
            // The jobs do not come from a reserve: these are claimed.
            let header = BatchHeader(name: "b", source: nil, directory: "/")
            let staged = StagedBatch(
                staged: try queue.store.stage(header, StagingOptions()) { stager in
                    for name in names {
                        try stager.add(
                            Sample.download(server.url("/\(name)"), to: folder.path(name), id: name), at: nil)
                    }
                    return true
                })
            try await body(queue, staged, log)
        }
    }

    private func states(_ queue: JobQueue, _ batch: StagedBatch) throws -> [JobState: Int] {
        try queue.store.tally(batch: batch.staged.batch.id).counts
    }

    private func wait(_ queue: JobQueue, _ batch: StagedBatch, for wanted: [JobState: Int]) async throws {
        try await within(.seconds(10)) {
            while try queue.store.tally(batch: batch.staged.batch.id).counts != wanted {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// The command arrives after the claim was sent and before it was answered.
    @Test(arguments: [QueueVerb.cancel, .pause]) func aCommandAffectsAJobDuringAClaim(_ verb: QueueVerb) async throws {
        try await withTestServer { server in
            try await withBatch(server, ["a", "b", "c"]) { queue, staged, log in
                let id = staged.staged.batch.id
                let lane = try #require(try queue.store.backlog(batch: id).ready.keys.first)
                await queue.runner.claim(
                    lane, 3, then: QueueCommand(id: 1, verb: verb, batch: id, job: nil), in: staged)
                if verb == .cancel {
                    try await log.wait { if case .batchFinished = $0.kind { true } else { false } }
                    #expect(log.ends == ["a": ["cancelled"], "b": ["cancelled"], "c": ["cancelled"]])
                } else {
                    for name in ["a", "b", "c"] {
                        try await log.wait { if case .waiting(name, .paused) = $0.kind { true } else { false } }
                    }
                    try await wait(queue, staged, for: [.paused: 3])
                }
                #expect(server.requests.isEmpty)
            }
        }
    }

    /// The command arrives after a job's attempt has failed and before its next attempt is recorded.
    @Test(arguments: [QueueVerb.cancel, .pause]) func aCommandAffectsAJobBeforeARetry(_ verb: QueueVerb) async throws {
        try await withTestServer { server in
            try await withBatch(server, ["a"]) { queue, staged, log in
                let id = staged.staged.batch.id
                let lane = try #require(try queue.store.backlog(batch: id).ready.keys.first)
                let record = try #require(try queue.store.claim(lane, limit: 1, secrets: [:]).jobs.first?.record)
                let step = JobStep(
                    id: record.id, state: .queued, attempts: 1, mirror: 0, spentMirrors: 0, origin: lane.origin,
                    batch: id, identity: "a")
                await queue.runner.step(step, then: QueueCommand(id: 1, verb: verb, batch: id, job: "a"), in: staged)
                let wanted: [JobState: Int] = verb == .cancel ? [.cancelled: 1] : [.paused: 1]
                try await wait(queue, staged, for: wanted)
                if verb == .cancel { try await log.wait { $0.end?.how == "cancelled" } }
                #expect(server.requests.isEmpty)
                #expect(try states(queue, staged) == wanted)
                #expect(log.ends == (verb == .cancel ? ["a": ["cancelled"]] : [:]))
            }
        }
    }

    /// A retry of a job that has not failed leaves the server's requested pause in force.
    @Test(arguments: [false, true]) func retryOfOneJobEndsAPauseIfItHasFailed(_ hasFailed: Bool) async throws {
        try await withTestServer { server in
            try await withBatch(server, ["a"]) { queue, staged, log in
                let id = staged.staged.batch.id
                let lane = try #require(try queue.store.backlog(batch: id).ready.keys.first)
                let record = try #require(try queue.store.claim(lane, limit: 1, secrets: [:]).jobs.first?.record)
                if hasFailed {
                    let step = JobStep(
                        id: record.id, state: .waiting, attempts: 1, mirror: 0, spentMirrors: 0,
                        due: .seconds(4e9), origin: lane.origin, batch: id, identity: "a")
                    _ = try queue.store.record([], [step])
                }
                let retry = QueueCommand(id: 1, verb: .retry, batch: id, job: "a")
                let isSpared = await queue.runner.spares(lane.origin, after: retry, in: staged)
                #expect(isSpared == !hasFailed)
                if hasFailed { try await log.wait { $0.end?.job == "a" } }
            }
        }
    }

    /// Both commands were sent before the first one was performed: the last one takes effect.
    @Test(.ofAFolder) func aJobThatIsPausedAndResumedAtOnceContinues() async throws {
        try await withTestServer { server in
            try await withBatch(server, ["a", "b"]) { queue, staged, log in
                server.script("/a", [.holdHead])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                for _ in 0..<20 {
                    for verb in [QueueVerb.pause, .resume] { _ = try remote.ask(verb, batch: "b", job: nil) }
                }
                _ = try await within(.seconds(20)) { try await run.valueOrEnd() }
                #expect(log.ends == ["a": ["done"], "b": ["done"]])
            }
        }
    }
}

extension QueueRunner {
    /// Sends a claim, and a command directly after it. No other process runs the queue: it begins here.
    fileprivate func claim(_ lane: Lane, _ count: Int, then command: QueueCommand, in batch: StagedBatch) {
        add(batch.staged.batch, secrets: [:], options: RunOptions())
        admission.scheduler.backlogIs(lane, count)
        pump()
        commands.take([command], on: self)
    }

    fileprivate func step(_ step: JobStep, then command: QueueCommand, in batch: StagedBatch) {
        add(batch.staged.batch, secrets: [:], options: RunOptions())
        recording.add(step)
        commands.take([command], on: self)
    }

    /// Returns whether an origin that asked for a pause is still paused after the command.
    fileprivate func spares(_ origin: String, after command: QueueCommand, in batch: StagedBatch) async -> Bool {
        add(batch.staged.batch, secrets: [:], options: RunOptions())
        admission.scheduler.restorePause(of: origin, Sample.busy(), until: .seconds(1e9))
        commands.take([command], on: self)
        return await withCheckedContinuation { answer in
            // The answer follows all earlier requests to the store.
            withStore { _ in
            } then: { runner, _ in
                answer.resume(returning: runner.admission.scheduler.pause(of: origin, now: .seconds(0)) != nil)
            }
        }
    }
}
