import Synchronization
import TransferEventLoop
public import TransferJobs

/// The jobs of a batch, read by a thread of their own as soon as this object is made. So some are there when a queue is
/// open for them (`JobQueue.stage(_:name:source:keepsWhatIsMissing:isReload:)`). About four thousand jobs are held in
/// memory until they are taken; then the thread waits.
public final class JobReading: Sendable {
    /// The folder that relative paths start from.
    package let directory: String
    private let read: @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    private let pool = WorkerPool(name: "job-reader", threads: 1)
    private let begun: Mutex<JobPrefetcher?>

    /// - Parameters:
    ///   - directory: The folder that relative paths start from.
    ///   - read: The reader, which calls its argument for each job with the job's place in its file, and returns
    ///     whether all went well. It is called at once, whether or not a queue takes the jobs, and again where they are
    ///     needed again.
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

    /// Ends the reading and drops the jobs that were read already.
    public func abandon() { begun.withLock { exchange(&$0, with: nil) }?.abandon() }

    /// Calls `take` for each job, on this thread.
    ///
    /// - Returns: The result of `read`.
    /// - Throws: The error of `take`, or that of `read`.
    package func takeAll(_ take: (StagedJob) throws -> Void) throws -> Bool {
        let handover = begun.withLock { exchange(&$0, with: nil) }
        return try (handover ?? JobPrefetcher(on: pool, directory: directory, read)).takeAll(take)
    }
}
