import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// The one thread of a simulated run: it chooses by its seed what runs next, and moves the virtual time on when nothing
/// can run.
///
/// A piece of work is a turn of a loop, the next work of a pool, a part of a task, or an event of the network. What
/// real threads could do in any order is chosen at random; what one of them does in order keeps its order.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class World: @unchecked Sendable {
    /// The world of the process.
    nonisolated(unsafe) static var current = World(seed: 0)

    var random: SplitMix64
    /// The nanoseconds since the machine's start.
    private(set) var now: Int64 = 1_000_000_000_000
    /// The wall clock's distance from ``now`` in nanoseconds.
    let wallOffset: Int64 = 1_760_000_000_000_000_000
    private(set) var steps = 0
    /// The sum of all choices, by which two runs of a seed are compared.
    private(set) var trace: UInt64 = 14_695_981_039_346_656_037

    /// The process whose work runs now; 0 is everything around the processes. What it makes belongs to it.
    private(set) var process = 0
    /// The descriptors of each process, where several run at a time.
    var descriptors: DescriptorOwners?

    private var loops: [SimulatedLoop] = []
    private var pools: [SimulatedWorkers] = []
    private var tasks: [(process: Int, job: UnownedJob)] = []
    private var events: [Event] = []
    private var lastEvent = 0
    /// The ends of the stops of processes (SIGSTOP, a machine that sleeps).
    private var stops: [Int: Int64] = [:]
    private var dead: Set<Int> = []
    /// The times until which calls of processes to their store get no answer.
    private var storeWaits: [Int: Int64] = [:]

    private struct Event {
        let time: Int64
        let number: Int
        let process: Int
        let work: () -> Void
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: What can run

    func add(_ loop: SimulatedLoop) { loops.append(loop) }

    func add(_ pool: SimulatedWorkers) { if !pools.contains(where: { $0 === pool }) { pools.append(pool) } }

    func add(_ task: UnownedJob) { tasks.append((process, task)) }

    /// Does `work` as that process.
    func within<Value>(_ process: Int, _ work: () throws -> Value) rethrows -> Value {
        let before = self.process
        self.process = process
        defer { self.process = before }
        return try work()
    }

    /// Runs `work` after a time, for a process; by default for the present one.
    func after(_ delay: Duration, of process: Int? = nil, _ work: @escaping () -> Void) {
        lastEvent += 1
        let event = Event(
            time: now + delay.nanoseconds, number: lastEvent, process: process ?? self.process, work: work)
        let place = events.firstIndex { ($0.time, $0.number) > (event.time, event.number) } ?? events.endIndex
        events.insert(event, at: place)
    }

    /// Ends a process: none of its loops, pools, tasks and planned events runs any more.
    ///
    /// - Returns: The files that it had open, where that is observed.
    @discardableResult
    func kill(_ process: Int) -> [String] {
        loops.removeAll { $0.process == process }
        for pool in pools where pool.process == process { pool.removeAll() }
        pools.removeAll { $0.process == process }
        events.removeAll { $0.process == process }
        tasks.removeAll { $0.process == process }
        stops[process] = nil
        storeWaits[process] = nil
        dead.insert(process)
        descriptors?.note(process)
        let left = descriptors?.files(of: process) ?? []
        descriptors?.closeAll(of: process)
        return left
    }

    func isDead(_ process: Int) -> Bool { dead.contains(process) }

    /// Stops a process for a time, in which nothing of it runs. What is due meanwhile runs afterwards.
    func stop(_ process: Int, for time: Duration) { stops[process] = now + time.nanoseconds }

    /// Lets the calls of a process to its store wait until that time.
    func delayStore(of process: Int, until time: Int64) { storeWaits[process] = time }

    // MARK: Steps

    /// Runs steps until `isDone`, or until nothing can happen any more.
    ///
    /// - Parameter limit: The virtual time after which the run counts as stuck.
    /// - Returns: Whether it is done.
    func run(atMost limit: Duration, until isDone: () -> Bool) -> Bool {
        let end = now + limit.nanoseconds
        while !isDone() {
            guard now < end, step() else { return false }
        }
        return true
    }

    private func step() -> Bool {
        steps += 1
        let readyLoops = loops.indices.filter { loops[$0].isReady(at: now) && runs(loops[$0].process) }
        let readyPools = pools.indices.filter { !pools[$0].isEmpty && (begin(of: pools[$0]) ?? now) <= now }
        let readyTasks = tasks.indices.filter { runs(tasks[$0].process) }
        let due = events.prefix { $0.time <= now }.firstIndex { runs($0.process) }
        let count = readyLoops.count + readyPools.count + readyTasks.count + (due != nil ? 1 : 0)
        guard count > 0 else { return advance() }
        // A slow thread: time passes while others could go on.
        if chance(1, in: 64) { now += Int64.random(in: 0..<20_000_000, using: &random) }
        let choice = Int.random(in: 0..<count, using: &random)
        note(choice)
        if choice < readyLoops.count {
            let loop = loops[readyLoops[choice]]
            process = loop.process
            if loop.turn() == .ended { loops.removeAll { $0 === loop } }
        } else if choice < readyLoops.count + readyPools.count {
            let pool = pools[readyPools[choice - readyLoops.count]]
            process = pool.process
            pool.run(pool.choose(&random))
        } else if choice < readyLoops.count + readyPools.count + readyTasks.count {
            let task = tasks.remove(at: readyTasks[choice - readyLoops.count - readyPools.count])
            process = task.process
            task.job.runSynchronously(on: WorldExecutor.shared.asUnownedTaskExecutor())
        } else if let due {
            let event = events.remove(at: due)
            process = event.process
            event.work()
        }
        descriptors?.note(process)
        process = 0
        return true
    }

    private func runs(_ process: Int) -> Bool { stops.isEmpty || (stops[process] ?? 0) <= now }

    /// Returns the time before which a pool's work does not run; `nil` if it may run now.
    private func begin(of pool: SimulatedWorkers) -> Int64? {
        let times = [stops[pool.process], pool.isOfStore ? storeWaits[pool.process] : nil].compactMap { $0 }
        return times.max().flatMap { $0 > now ? $0 : nil }
    }

    private func advance() -> Bool {
        func later(_ time: Int64, _ process: Int) -> Int64 { max(time, stops[process] ?? 0) }
        var times = loops.compactMap { loop in
            loop.isReady(at: now) ? later(now, loop.process) : loop.deadline.map { later($0, loop.process) }
        }
        times += pools.filter { !$0.isEmpty }.compactMap { begin(of: $0) }
        times += tasks.map { later(now, $0.process) }
        if stops.isEmpty {
            times += events.prefix(1).map(\.time)
        } else {
            times += events.map { later($0.time, $0.process) }
        }
        guard let next = times.min() else { return false }
        note(Int(truncatingIfNeeded: next &- now))
        now = max(now, next)
        stops = stops.filter { $0.value > now }
        return true
    }

    private func note(_ choice: Int) { trace = (trace ^ UInt64(truncatingIfNeeded: choice)) &* 1_099_511_628_211 }

    // MARK: Chance

    func chance(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }

    func between(_ least: Int, _ most: Int) -> Int { Int.random(in: least...most, using: &random) }

    func oneOf<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    /// A time that is short in most cases.
    func pause() -> Duration { .milliseconds(chance(1, in: 12) ? between(0, 20_000) : between(0, 200)) }

    /// A time at which something happens to a run: early in most cases, as most runs are over soon.
    func moment() -> Duration { .milliseconds(between(0, oneOf([50, 500, 2000, 60_000]))) }
}

/// The executor of the simulated person's tasks.
final class WorldExecutor: TaskExecutor {
    static let shared = WorldExecutor()

    func enqueue(_ job: consuming ExecutorJob) { World.current.add(UnownedJob(job)) }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

/// A generator of random numbers by a seed (SplitMix64).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
