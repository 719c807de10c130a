import Synchronization
import TransferEventLoop
public import TransferJobs

/// The jobs of a batch, read by a thread of its own from the moment that this is made: there are some by the time that
/// a queue is open for them (`JobQueue.stage(_:name:source:keepsWhatIsMissing:isReload:)`). Some four thousand are held
/// in memory until they are taken; with the others the thread waits.
public final class JobReading: Sendable {
    /// The folder that relative paths start from.
    package let directory: String
    private let read: @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    private let pool = WorkerPool(name: "job-reader", threads: 1)
    private let begun: Mutex<JobPrefetcher?>

    /// - Parameters:
    ///   - directory: What relative paths start from.
    ///   - read: Calls its argument for each job, with the job's place in its file; returns whether all went well. It's
    ///     called at once, whatever becomes of the queue, and again where the jobs are needed again.
    public init(
        directory: String, _ read: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    ) {
        self.directory = directory
        self.read = read
        begun = Mutex(JobPrefetcher(on: pool, directory: directory, read))
    }

    deinit {
        abandon()
        pool.stop()
    }

    /// Lets go of what was read already.
    public func abandon() { begun.withLock { exchange(&$0, with: nil) }?.abandon() }

    /// Calls `take` for each job, on this thread.
    ///
    /// - Returns: What `read` returned.
    /// - Throws: What `take` throws, or what `read` threw.
    package func takeAll(_ take: (StagedJob) throws -> Void) throws -> Bool {
        let handover = begun.withLock { exchange(&$0, with: nil) }
        return try (handover ?? JobPrefetcher(on: pool, directory: directory, read)).takeAll(take)
    }
}
