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

    private var loops: [SimulatedLoop] = []
    private var pools: [SimulatedWorkers] = []
    private var tasks: [UnownedJob] = []
    private var events: [Event] = []
    private var lastEvent = 0

    private struct Event {
        let time: Int64
        let number: Int
        let work: () -> Void
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: What can run

    func add(_ loop: SimulatedLoop) { loops.append(loop) }

    func add(_ pool: SimulatedWorkers) { if !pools.contains(where: { $0 === pool }) { pools.append(pool) } }

    func add(_ task: UnownedJob) { tasks.append(task) }

    /// Runs `work` after a time.
    func after(_ delay: Duration, _ work: @escaping () -> Void) {
        lastEvent += 1
        let event = Event(time: now + delay.nanoseconds, number: lastEvent, work: work)
        let place = events.firstIndex { ($0.time, $0.number) > (event.time, event.number) } ?? events.endIndex
        events.insert(event, at: place)
    }

    /// Ends the process: none of its loops, pools, tasks and planned events runs any more.
    func kill() {
        loops.removeAll()
        for pool in pools { pool.removeAll() }
        pools.removeAll()
        events.removeAll()
        tasks.removeAll()
    }

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
        let readyLoops = loops.indices.filter { loops[$0].isReady(at: now) }
        let readyPools = pools.indices.filter { !pools[$0].isEmpty }
        let dueEvents = events.prefix { $0.time <= now }.count
        let count = readyLoops.count + readyPools.count + tasks.count + (dueEvents > 0 ? 1 : 0)
        guard count > 0 else { return advance() }
        // A slow thread: time passes while others could go on.
        if chance(1, in: 64) { now += Int64.random(in: 0..<20_000_000, using: &random) }
        let choice = Int.random(in: 0..<count, using: &random)
        note(choice)
        if choice < readyLoops.count {
            let loop = loops[readyLoops[choice]]
            if loop.turn() == .ended { loops.removeAll { $0 === loop } }
        } else if choice < readyLoops.count + readyPools.count {
            pools[readyPools[choice - readyLoops.count]].runNext(&random)
        } else if choice < readyLoops.count + readyPools.count + tasks.count {
            let task = tasks.remove(at: choice - readyLoops.count - readyPools.count)
            task.runSynchronously(on: WorldExecutor.shared.asUnownedTaskExecutor())
        } else {
            events.removeFirst().work()
        }
        return true
    }

    private func advance() -> Bool {
        let times = loops.compactMap(\.deadline) + events.prefix(1).map(\.time)
        guard let next = times.min() else { return false }
        note(Int(truncatingIfNeeded: next &- now))
        now = max(now, next)
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
