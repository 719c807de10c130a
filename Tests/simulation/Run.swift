import Glibc
import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

@testable import TransferQueue

/// One run of a seed: the queue's process with its kills and starts, the people who steer it, and what it reported.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class Run: SimulatedRun, @unchecked Sendable {
    let seed: UInt64
    let world: World
    let scenario: Scenario
    let isVerbose: Bool
    private let memory = MemoryQueue()
    private var store: MemoryStore?
    private var queue: JobQueue?
    /// The number of processes so far.
    private(set) var processes = 0
    private var isOver = false
    private var failure: (any Error)?
    private(set) var events: [QueueEvent.Kind] = []
    private let standing: Set<Int32>

    init(seed: UInt64, folder: String, isVerbose: Bool) {
        self.seed = seed
        self.isVerbose = isVerbose
        world = World(seed: seed)
        World.current = world
        mkdir(folder, 0o755)
        mkdir(folder + "/in", 0o755)
        scenario = Scenario(folder: folder)
        standing = Descriptors.open
    }

    /// Runs the jobs to their end.
    ///
    /// - Returns: What is wrong, in words; empty for a good run.
    func go() -> [String] {
        startProcess()
        planKills()
        scenario.planChanges { [self] in say($0) }
        let limit = Duration.seconds(3 * 24 * 3600)
        guard world.run(atMost: limit, until: { isOver }) else {
            return ["the run moved nothing more, or did not end within three days: \(status)"]
        }
        if let failure { return ["the run ended with \(failure)"] }
        return Judges(scenario: scenario, events: events, ends: Judges.lastEnds(events)).faults
    }

    private var status: String { events.suffix(4).map { "\($0)" }.joined(separator: "; ") }

    // MARK: The process

    private func startProcess() {
        processes += 1
        world.within(processes) { start() }
        if let queue { planPeople(queue) }
    }

    private func start() {
        say("process \(processes) starts")
        do {
            let store = MemoryStore(memory)
            let queue = try scenario.makeQueue(over: store)
            self.store = store
            self.queue = queue
            queue.observe { [self] in heard($0.kind) }
            let number = processes
            let jobs = scenario.jobs.map(\.spec)
            let folder = scenario.folder
            Task(executorPreference: WorldExecutor.shared) { [self] in
                do {
                    let staged = try await queue.reader.run {
                        try store.stage(
                            BatchHeader(name: "batch", source: nil, directory: folder), StagingOptions()
                        ) { intake in
                            for job in jobs { try intake.add(job, at: nil) }
                            return true
                        }
                    }
                    _ = try await queue.run([StagedBatch(staged: staged)])
                } catch {
                    failure = error
                }
                if number == processes { isOver = true }
            }
        } catch {
            failure = error
            isOver = true
        }
    }

    private func heard(_ kind: QueueEvent.Kind) {
        if case .progress = kind { return }
        if case .batchProgress = kind { return }
        events.append(kind)
        Coverage.count(kind)
        say("\(kind)")
    }

    private func planKills() {
        guard world.chance(1, in: 2) else { return }
        let delay = world.moment()
        world.after(delay) { [self] in kill() }
    }

    /// Ends the process as kill(2) does: its memory is gone, the kernel closes its files, and others take its lease.
    private func kill() {
        say("process \(processes) is killed")
        Coverage.add(.killed)
        world.kill(processes)
        if let store { memory.endLease(of: store) }
        memory.advance(by: .seconds(1))
        store = nil
        queue = nil
        for descriptor in Descriptors.open.subtracting(standing) { close(descriptor) }
        world.after(.seconds(world.between(0, 100))) { [self] in
            startProcess()
            if processes < 6 { planKills() }
            scenario.planChanges { [self] in say($0) }
        }
    }

    // MARK: People and servers

    private func planPeople(_ queue: JobQueue) {
        if world.chance(1, in: 3) {
            let verb = world.oneOf([QueueVerb.pause, .cancel, .retry])
            let job = world.chance(1, in: 2) ? world.oneOf(scenario.jobs).name : nil
            world.after(world.moment()) { [self] in
                ask(queue, verb, job)
                guard verb == .pause else { return }
                world.after(.seconds(world.between(0, 1000))) { [self] in ask(queue, .resume, nil) }
            }
        }
        // Somebody looks after what was paused.
        world.after(.seconds(3600)) { [self] in resumeFromTimeToTime(queue) }
    }

    private func resumeFromTimeToTime(_ queue: JobQueue) {
        ask(queue, .resume, nil)
        world.after(.seconds(3600)) { [self] in resumeFromTimeToTime(queue) }
    }

    private func ask(_ queue: JobQueue, _ verb: QueueVerb, _ job: String?) {
        // A command reaches the process that made the queue, while it lives.
        guard queue === self.queue else { return }
        Coverage.count(verb)
        say("a person asks \(verb) of \(job ?? "all")")
        world.within(processes) {
            _ = Task(executorPreference: WorldExecutor.shared) {
                try? await queue.ask(verb, batch: "batch", job: job)
                // The socket of the process rings.
                await queue.runner.performCommands()
            }
        }
    }

    private func say(_ text: String) {
        guard isVerbose else { return }
        Output.line("\((world.now - 1_000_000_000_000) / 1_000_000) ms  \(text)")
    }
}
