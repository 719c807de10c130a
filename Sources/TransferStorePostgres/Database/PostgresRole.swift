package import TransferCore
package import TransferJobs
import TransferStore

/// The part that a process has in a queue.
package enum PostgresRole: Sendable {
    /// A process that takes batches for itself alone.
    case owner
    /// A process that takes jobs of batches beside other workers.
    case worker(PostgresWorker)
    /// A process that adds jobs for others to do.
    case submitter
    /// A process that reads and sends commands: it has no lease, and holds nothing.
    case onlooker
}

/// The properties of a process that works on a queue beside others.
package struct PostgresWorker: Sendable {
    /// The time without a sign of life after which other processes take over the claims.
    package var term: Duration = .seconds(30)
    /// The tags of this worker. Jobs that ask for other tags are not taken.
    package var tags = WorkerTags.none
    /// The folder that the relative paths of all batches start from on this machine.
    package var folder: String?
    /// The function that is called with the reason when the database is away, and with `nil` when it is back. Called by
    /// any of the store's threads.
    package var tell: @Sendable (_ away: TransferError?) -> Void = { _ in }

    package init() {}
}

extension PostgresRole {
    package var sharesBatches: Bool { if case .worker = self { true } else { false } }

    /// The tags of the worker (``PostgresWorker/tags``); none for other roles.
    package var tags: WorkerTags { if case .worker(let worker) = self { worker.tags } else { .none } }

    /// The folder of the worker (``PostgresWorker/folder``); `nil` for other roles.
    package var folder: String? { if case .worker(let worker) = self { worker.folder } else { nil } }

    package var term: Duration {
        switch self {
        case .worker(let worker): worker.term
        case .submitter: PostgresWorker().term
        case .owner, .onlooker: Lease.term
        }
    }

    /// Whether the process only reads the queue and sends commands, without a part in it.
    package var isOnlooker: Bool { if case .onlooker = self { true } else { false } }

    /// Whether the process receives commands.
    package var takesCommands: Bool { if case .submitter = self { false } else { true } }

    /// Whether other machines do the jobs that this process adds. Secrets that only this process has do not help them.
    package var bringsForOthers: Bool {
        switch self {
        case .worker, .submitter: true
        case .owner, .onlooker: false
        }
    }
}
