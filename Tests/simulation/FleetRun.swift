import Glibc
import TransferCore
import TransferEventLoop
import TransferJobs

@testable import TransferQueue
@testable import TransferStore

/// One run of a seed with several workers of one queue, each with a lease: killed, stopped for longer than the lease,
/// and cut off from the database.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class FleetRun: SimulatedRun, @unchecked Sendable {
    /// A process that works on the queue.
    private struct Worker {
        let process: Int
        let queue: JobQueue
        let store: FleetStore
    }

    let world: World
    private let scenario: Scenario
    private let isVerbose: Bool
    private let database: FleetDatabase
    private var workers: [Worker] = []
    private var processes = 0
    private var events: [QueueEvent.Kind] = []
    private var faults: [String] = []
    private var retried: Set<String> = []
    /// Whether a worker was stopped or cut off, so that it may touch its files after others have taken its jobs over.
    private var hasStaleWorkers = false
    private var cancelled: [String: Int64] = [:]
    /// The time since which all jobs have ended.
    private var ended: Int64?

    init(seed: UInt64, folder: String, isVerbose: Bool) {
        self.isVerbose = isVerbose
        world = World(seed: seed)
        World.current = world
        mkdir(folder, 0o755)
        mkdir(folder + "/in", 0o755)
        scenario = Scenario(folder: folder)
        database = FleetDatabase(losses: world.oneOf([0, 0, 1, 3]))
        world.descriptors = DescriptorOwners()
    }

    func go() -> [String] {
        do { try database.bring(scenario.jobs.map(\.spec), folder: scenario.folder) } catch { return ["\(error)"] }
        for _ in 1...world.between(2, 4) { startWorker() }
        for _ in 0..<world.between(0, 4) { planTrouble() }
        planPeople()
        scenario.planChanges { [self] in say($0) }
        planUpkeep()
        guard world.run(atMost: .seconds(3 * 24 * 3600), until: { isOver }) else {
            return faults + ["the run moved nothing more, or did not end within three days: \(status)"]
        }
        return faults
            + Judges(
                scenario: scenario, events: events, ends: ends, retried: retried, hasStaleWorkers: hasStaleWorkers
            ).faults
    }

    private var status: String {
        let left = jobs.filter { !$0.state.hasEnded }.map { "\($0.identity) is \($0.state)" }
        return left.joined(separator: ", ") + "; \(workers.count) workers"
    }

    private var jobs: [ModelJob] { database.model.jobs.values.sorted { $0.id < $1.id } }

    private var ends: [String: Judges.End] {
        var ends: [String: Judges.End] = [:]
        for job in jobs where job.state.hasEnded {
            ends[job.identity] =
                switch job.state {
                case .done: .good
                case .failed: .failed(job.error)
                default: .other
                }
        }
        return ends
    }

    /// Whether all jobs have ended, and nothing has changed that for a while.
    private var isOver: Bool {
        guard jobs.allSatisfy({ $0.state.hasEnded }) else {
            ended = nil
            return false
        }
        let since = ended ?? world.now
        ended = since
        return world.now - since > 60_000_000_000
    }

    // MARK: Workers

    private func startWorker() {
        processes += 1
        let process = processes
        world.within(process) {
            say("worker \(process) starts")
            do {
                let store = FleetStore(database)
                let queue = try scenario.makeQueue(over: store)
                queue.observe { [self] in heard($0.kind, of: process) }
                workers.append(Worker(process: process, queue: queue, store: store))
                Task(executorPreference: WorldExecutor.shared) { [self] in
                    do { try await queue.run() } catch {
                        say("worker \(process) ends its queue: \(error)")
                        if error is LeaseLost { Coverage.add(.leaseLost) }
                    }
                    await queue.close()
                    beginAnew(process)
                }
            } catch {
                faults.append("worker \(process) cannot start: \(error)")
            }
        }
    }

    /// Lets a worker whose queue could not continue open it again, as the command does.
    private func beginAnew(_ process: Int) {
        Coverage.add(.begunAnew)
        workers.removeAll { $0.process == process }
        world.after(.seconds(world.between(1, 10)), of: 0) { [self] in
            // Nothing of the old queue may be in the way of the new one.
            let left = world.kill(process)
            if !left.isEmpty { faults.append("worker \(process) has closed its queue, and \(left) are open") }
            startWorker()
        }
    }

    private func heard(_ kind: QueueEvent.Kind, of process: Int) {
        if case .progress = kind { return }
        if case .batchProgress = kind { return }
        if case .started(let job, _) = kind, let time = cancelled[job], world.now - time > 120_000_000_000 {
            faults.append("\(job) starts long after it was cancelled")
        }
        events.append(kind)
        Coverage.count(kind)
        say("worker \(process): \(kind)")
    }

    // MARK: Troubles

    private func planTrouble() {
        world.after(world.moment()) { [self] in
            guard !workers.isEmpty else { return }
            let worker = world.oneOf(workers)
            let time = Duration.seconds(world.between(1, 100))
            switch world.between(0, 2) {
            case 0: kill(worker)
            case 1:
                say("worker \(worker.process) is stopped for \(time)")
                Coverage.add(.stopped)
                hasStaleWorkers = true
                world.stop(worker.process, for: time)
            default:
                say("worker \(worker.process) is cut off from the database for \(time)")
                Coverage.add(.partitioned)
                hasStaleWorkers = true
                worker.store.partition(for: time)
            }
        }
    }

    private func kill(_ worker: Worker) {
        say("worker \(worker.process) is killed")
        Coverage.add(.killed)
        workers.removeAll { $0.process == worker.process }
        world.kill(worker.process)
        world.after(.seconds(world.between(0, 100))) { [self] in startWorker() }
    }

    // MARK: People and servers

    private func planPeople() {
        for _ in 0..<world.oneOf([0, 0, 1, 2]) {
            let verb = world.oneOf([QueueVerb.pause, .cancel, .retry])
            let job = world.chance(1, in: 2) ? world.oneOf(scenario.jobs).name : nil
            world.after(world.moment()) { [self] in
                ask(verb, job)
                guard verb == .pause else { return }
                world.after(.seconds(world.between(0, 1000))) { [self] in ask(.resume, nil) }
            }
        }
    }

    /// Somebody looks after what was paused, and workers look whether others are lost.
    private func planUpkeep() {
        world.after(.seconds(3600)) { [self] in
            ask(.resume, nil)
            planUpkeep()
        }
    }

    private func ask(_ verb: QueueVerb, _ job: String?) {
        Coverage.count(verb)
        say("a person asks \(verb) of \(job ?? "all")")
        let meant = job.map { [$0] } ?? scenario.jobs.map(\.name)
        switch verb {
        case .cancel: for name in meant { cancelled[name] = world.now }
        case .retry, .retryFailed:
            retried.formUnion(meant)
            for name in meant { cancelled[name] = nil }
        case .pause, .resume: break
        }
        database.ask(verb, job)
    }

    private func say(_ text: String) {
        guard isVerbose else { return }
        Output.line("\((world.now - 1_000_000_000_000) / 1_000_000) ms  \(text)")
    }
}
