import Glibc
import TransferCore
import TransferEventLoop

/// The threads of a simulation: the world runs all loops and pools in turn.
struct SimulatedThreads: ThreadSource {
    func loopRunner() throws -> any LoopRunner { SimulatedLoop() }
    func workers(name: String, threads: Int) -> any Workers { SimulatedWorkers(name: name, threads: threads) }

    /// Takes the place of the system's threads and clocks for the rest of the process.
    static func install() {
        Threads.replace(SimulatedThreads())
        ClockSource.replace { clock in
            let world = World.current
            return clock == CLOCK_REALTIME ? world.now + world.wallOffset : world.now
        }
    }
}

/// A loop without a thread. The loop watches no descriptors, so a handler of one is never called.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedLoop: LoopRunner, @unchecked Sendable {
    private var loop: EventLoop?
    private var isWoken = true
    private(set) var deadline: Int64?
    /// The process of the loop.
    let process = World.current.process

    func start(_ loop: EventLoop, name: String) throws {
        self.loop = loop
        World.current.add(self)
    }

    func wake() { isWoken = true }
    func watch(_ descriptor: Int32, for events: ReadyEvents, serial: UInt32, isNew: Bool) {}
    func unwatch(_ descriptor: Int32) {}
    var processorTime: Double { 0 }

    func isReady(at now: Int64) -> Bool { isWoken || deadline.map { $0 <= now } ?? false }

    func turn() -> EventLoop.Rest {
        guard let loop else { return .ended }
        isWoken = false
        let rest = loop.turnHere()
        switch rest {
        case .busy: isWoken = true
        case .idle(let next): deadline = next?.nanoseconds
        case .ended:
            deadline = nil
            self.loop = nil
        }
        return rest
    }
}

/// A pool without threads. Work begins in order; of several threads' work any may be done first.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedWorkers: Workers, @unchecked Sendable {
    private let threads: Int
    private var queue: [@Sendable () -> Void] = []
    /// The process of the pool.
    let process = World.current.process
    /// Whether the pool's work are calls to the store of the process.
    let isOfStore: Bool

    init(name: String, threads: Int) {
        self.threads = threads
        isOfStore = name.hasPrefix("store")
    }

    var isEmpty: Bool { queue.isEmpty }

    func execute(_ work: @escaping @Sendable () -> Void) {
        queue.append(work)
        World.current.add(self)
    }

    func stop() {}

    func removeAll() { queue.removeAll() }

    /// Chooses one of the pieces of work that the pool's threads would have begun.
    func choose(_ random: inout SplitMix64) -> Int { Int.random(in: 0..<min(threads, queue.count), using: &random) }

    func run(_ choice: Int) { queue.remove(at: choice)() }
}
