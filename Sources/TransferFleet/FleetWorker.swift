public import TransferQueue
import TransferStorePostgres

/// A process that works on a queue beside others.
public struct FleetWorker: Sendable {
    /// The bounds of jobs that others brought. Relative paths start from the rules' folder.
    public var rules: OutsideRules
    /// Without a sign of life for so long others go on with this worker's jobs. All workers may have another one.
    public var lease: Duration = .seconds(30)
    /// A job that asks for tags is taken by a worker that has all of them; one that asks for none, by any.
    public var tags = WorkerTags.none
    /// Is told when the database is away, with the reason, and with `nil` when it's back. Called by any thread.
    public var reportConnection: @Sendable (TransferError?) -> Void = { _ in }
    /// Is told, whenever the queue is opened, of records that a crash of the database or a fail-over to a standby may lose, and
    /// of the settings that prevent it; not called where it loses none. Called by any thread.
    public var reportDurability: @Sendable (String) -> Void = { _ in }

    public init(rules: OutsideRules) { self.rules = rules }

    var postgres: PostgresWorker {
        var worker = PostgresWorker()
        worker.term = lease
        worker.folder = rules.directory
        worker.tags = tags
        worker.tell = reportConnection
        return worker
    }
}
