import Synchronization

/// The maker of the threads of loops and worker pools: the system's threads, or a simulation that runs all loops and
/// pools in turn on one thread.
package protocol ThreadSource: Sendable {
    /// Makes the runner of one loop.
    ///
    /// - Throws: `TransferError` where the system has no descriptors left.
    func loopRunner() throws -> any LoopRunner

    /// Makes the workers of one pool.
    ///
    /// - Parameter threads: The maximum number of threads, at least 1.
    func workers(name: String, threads: Int) -> any Workers
}

/// The thread of one loop, and its view of descriptors.
package protocol LoopRunner: AnyObject, Sendable {
    /// Begins to run the loop's turns.
    ///
    /// - Throws: `TransferError` where the system has no threads left.
    func start(_ loop: EventLoop, name: String) throws
    /// Makes the loop run a turn soon. Any thread may call it.
    func wake()
    /// Watches a descriptor, or changes the events for which it is watched. Called on the loop.
    func watch(_ descriptor: Int32, for events: ReadyEvents, serial: UInt32, isNew: Bool)
    /// Ends the watch of a descriptor. Called on the loop.
    func unwatch(_ descriptor: Int32)
    /// The processor time of the loop's thread in seconds; 0 where it is unknown.
    var processorTime: Double { get }
}

/// The threads of one worker pool.
package protocol Workers: AnyObject, Sendable {
    /// Runs `work` soon. Pieces of work start in the order of the calls.
    func execute(_ work: @escaping @Sendable () -> Void)
    /// Ends the threads once no work is left. Later work still runs, on the caller's thread.
    func stop()
}

/// The thread source of the process.
package enum Threads {
    private static let source = Mutex<any ThreadSource>(SystemThreads())

    /// The source of new loops and pools.
    static var current: any ThreadSource { source.withLock { $0 } }

    /// Replaces the source for the rest of the process, before the first loop or pool is made.
    package static func replace(_ new: any ThreadSource) { source.withLock { $0 = new } }
}

/// The threads of the system.
struct SystemThreads: ThreadSource {
    func loopRunner() throws -> any LoopRunner { try EpollRunner() }
    func workers(name: String, threads: Int) -> any Workers { WorkerThreads(name: name, limit: threads) }
}
