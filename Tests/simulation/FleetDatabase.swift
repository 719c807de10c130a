import TransferCore
import TransferEventLoop
import TransferJobs

@testable import TransferStore

/// The database of a queue that several workers share, by PostgreSQL's promises: each change takes effect as a whole or
/// not at all, a process whose lease was taken over changes nothing any more, and notifications follow the commit.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class FleetDatabase: @unchecked Sendable {
    /// A process that is connected.
    struct Listener {
        let process: Int
        let hear: @Sendable (StoreNotification) -> Void
    }

    /// The time without a renewal after which others take over a process's jobs.
    static let term = Duration.seconds(30)

    private(set) var model = QueueModel()
    /// The number of transactions whose end gets lost.
    private var lossesLeft: Int
    private var listeners: [Int64: Listener] = [:]
    /// Pauses and cancellations of claimed jobs, which hold even if the worker is lost.
    private var pending: [Int64: QueueVerb] = [:]
    /// The uploads whose servers a process is asking to drop them, and the end of its time for that.
    private var abandoning: [Int64: MonotonicTime] = [:]

    init(losses: Int) { lossesLeft = losses }

    // MARK: Processes

    func register() -> Int64 {
        let generation = model.register(now: .now)
        model.leases[generation] = Lease(generation: generation, until: .now + Self.term)
        return generation
    }

    func listen(_ generation: Int64, _ hear: @escaping @Sendable (StoreNotification) -> Void) {
        listeners[generation] = Listener(process: World.current.process, hear: hear)
        for news in [StoreNotification.changed, .commanded, .revoked] { notify(generation, news) }
    }

    func isDue(_ generation: Int64, within time: Duration) -> Bool {
        model.leases[generation].map { $0.until - .now <= time } ?? true
    }

    /// Renews a lease, and takes over the jobs of processes whose leases are over.
    func renew(_ generation: Int64) throws -> Lease {
        try change(by: generation) { state in
            let lease = Lease(generation: generation, until: .now + Self.term)
            state.leases[generation] = lease
            return lease
        }
        .also(reclaim)
    }

    func reclaim() {
        let lost = model.leases.values.filter { $0.until <= .now }.map(\.generation)
        guard !lost.isEmpty else { return }
        Coverage.add(.takenOver)
        model.reclaim(now: .now)
        for generation in lost { listeners[generation] = nil }
        performPending()
        notifyAll(.changed)
    }

    func retire(_ generation: Int64) {
        listeners[generation] = nil
        model.retire(generation)
        performPending()
        notifyAll(.changed)
    }

    // MARK: Changes

    /// Makes all changes of `body`, or none.
    func change<Value>(by generation: Int64, _ body: (inout QueueModel) throws -> Value) throws -> Value {
        var state = model
        guard state.leases[generation] != nil else { throw LeaseLost() }
        let value = try body(&state)
        model = state
        performPending()
        return value
    }

    /// Returns whether the end of the next transaction gets lost.
    func losesEnd() -> Bool {
        guard lossesLeft > 0, World.current.chance(1, in: 30) else { return false }
        lossesLeft -= 1
        Coverage.add(.lostCommit)
        return true
    }

    func look<Value>(_ body: (QueueModel) throws -> Value) rethrows -> Value { try body(model) }

    /// Adds a batch, as a process does that brings jobs and leaves.
    func bring(_ jobs: [JobSpec], folder: String) throws {
        let generation = register()
        var origins = OriginMemory()
        let staged = jobs.map { StagedJob($0, at: nil, directory: folder, origins: &origins) }
        _ = try change(by: generation) { state in
            try state.stage(
                BatchHeader(name: "batch", source: nil, directory: folder), StagingOptions(), staged, isPartial: false,
                by: generation)
        }
        retire(generation)
    }

    /// Carries out a command of a person for jobs that no process has claimed, and hands it to the others' processes.
    func ask(_ verb: QueueVerb, _ identity: String?) {
        reclaim()
        guard let batch = model.batch(named: "batch") else { return }
        let meant = model.jobs(of: batch).filter { identity == nil || $0.identity == identity }
        var owners: Set<Int64> = []
        for job in meant where job.state == .claimed {
            if let owner = job.claim.owner { owners.insert(owner) }
            guard pending[job.id] != .cancel else { continue }
            switch verb {
            case .pause, .cancel: pending[job.id] = verb
            case .resume: pending[job.id] = nil
            case .retry, .retryFailed: break
            }
        }
        _ = model.apply(QueueCommand(id: 0, verb: verb, batch: batch, job: identity))
        for owner in owners.sorted() {
            let command = QueueCommand(id: model.number(), verb: verb, batch: batch, job: identity)
            model.commands[owner, default: []].append(command)
            notify(owner, .commanded)
        }
        notifyAll(.changed)
    }

    /// Carries out the commands of jobs that have left their workers.
    private func performPending() {
        for (id, verb) in pending.sorted(by: { $0.key < $1.key }) {
            guard let job = model.jobs[id], job.state != .claimed else { continue }
            pending[id] = nil
            guard !job.state.hasEnded else { continue }
            _ = model.apply(QueueCommand(id: 0, verb: verb, batch: job.batch, job: job.identity))
        }
    }

    /// Takes cancelled uploads, whose servers hold parts of them, for one process and a while.
    func takeAbandoned() -> [AbandonedUpload] {
        guard let batch = model.batch(named: "batch") else { return [] }
        let taken = model.abandoned(batch, [:]).filter { upload in
            upload.upload.holdsSomething && abandoning[upload.id].map { $0 <= .now } ?? true
        }
        for upload in taken { abandoning[upload.id] = .now + .seconds(60) }
        return taken
    }

    // MARK: Notifications

    func notify(_ generation: Int64, _ news: StoreNotification) {
        guard let listener = listeners[generation] else { return }
        World.current.after(World.current.pause(), of: listener.process) { listener.hear(news) }
    }

    func notifyAll(_ news: StoreNotification) {
        for generation in listeners.keys.sorted() { notify(generation, news) }
    }
}

extension Lease {
    fileprivate func also(_ work: () -> Void) -> Lease {
        work()
        return self
    }
}
