import TransferCore

/// A few threads for blocking work: opening, syncing and renaming files, databases, and name look-ups.
public final class WorkerPool: Sendable {
    private let workers: any Workers

    /// Creates a pool.
    ///
    /// - Parameter threads: The maximum number of threads, which start as work arrives.
    public init(name: String, threads: Int) {
        workers = Threads.current.workers(name: name, threads: max(1, threads))
    }

    /// Runs `work` on a thread of the pool. Pieces of work start in the order of the calls.
    public func execute(_ work: @escaping @Sendable () -> Void) { workers.execute(work) }

    /// Runs `work` on a thread of the pool, and returns its result.
    ///
    /// - Throws: The error of `work`.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Ends the threads once the queue is empty. Later work still runs, on the caller's thread.
    public func stop() { workers.stop() }
}
