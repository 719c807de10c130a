public import TransferQueue
import TransferStorePostgres

/// The settings of a process that works on a queue beside others.
public struct FleetWorker: Sendable {
    /// The limits for jobs that other processes submitted. Relative paths start from the rules' folder.
    public var rules: OutsideRules
    /// The time without a sign of life after which other workers take over this worker's jobs. Workers may have
    /// different leases.
    public var lease: Duration = .seconds(30)
    /// The tags of this worker. A job with tags is taken by a worker that has all of them, a job without tags by any
    /// worker.
    public var tags = WorkerTags.none
    /// The closure called with the reason when the database is away, and with `nil` when it is back. Called on any
    /// thread.
    public var reportConnection: @Sendable (TransferError?) -> Void = { _ in }
    /// The closure called when the queue is opened and a crash of the database or a fail-over to a standby may lose
    /// records. Its argument describes them and the settings that prevent the loss. Called on any thread.
    public var reportDurability: @Sendable (String) -> Void = { _ in }

    /// Creates settings with rules for jobs, and default values.
    public init(rules: OutsideRules) { self.rules = rules }

    /// Returns the settings for the database.
    ///
    /// - Parameter key: The key of sealed secrets, whose tag the worker has too.
    /// - Throws: `invalidRequest` where the worker has no place for the tag.
    func postgres(_ key: SealingKey?) throws(TransferError) -> PostgresWorker {
        var worker = PostgresWorker()
        worker.term = lease
        worker.folder = rules.directory
        if let key {
            guard let all = WorkerTags(tags.names + key.tags.names) else {
                throw TransferError(
                    .invalidRequest, "a worker with a key has \(WorkerTags.most - 1) tags of its own at most")
            }
            worker.tags = all
        } else {
            worker.tags = tags
        }
        worker.tell = reportConnection
        return worker
    }
}
