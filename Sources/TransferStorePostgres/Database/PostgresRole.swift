package import TransferCore
package import TransferJobs
import TransferStore

/// The part that a process has in a queue.
package enum PostgresRole: Sendable {
    /// Takes batches for itself, one process each.
    case owner
    /// Takes batches beside other workers.
    case worker(PostgresWorker)
    /// Brings jobs that others do.
    case submitter
    /// Looks, and asks for something: it has no lease, and holds nothing.
    case onlooker
}

/// How a process works on a queue that others work on too.
package struct PostgresWorker: Sendable {
    /// Without a sign of life for so long others take over what the process has claimed.
    package var term: Duration = .seconds(30)
    /// Jobs that ask for others aren't taken.
    package var tags = WorkerTags.none
    /// The folder that the relative paths of all batches start from on this machine.
    package var folder: String?
    /// Is told when the database is away, with the reason, and with `nil` when it's back. Called by any of the store's threads.
    package var tell: @Sendable (_ away: TransferError?) -> Void = { _ in }

    package init() {}
}

extension PostgresRole {
    package var sharesBatches: Bool { if case .worker = self { true } else { false } }

    /// ``PostgresWorker/tags``
    package var tags: WorkerTags { if case .worker(let worker) = self { worker.tags } else { .none } }

    /// ``PostgresWorker/folder``
    package var folder: String? { if case .worker(let worker) = self { worker.folder } else { nil } }

    package var term: Duration {
        switch self {
        case .worker(let worker): worker.term
        case .submitter: PostgresWorker().term
        case .owner, .onlooker: Lease.term
        }
    }

    /// Whether it looks at the queue, and steers it, without a part in it.
    package var isOnlooker: Bool { if case .onlooker = self { true } else { false } }

    /// Whether it hears what is asked of it.
    package var takesCommands: Bool { if case .submitter = self { false } else { true } }

    /// Whether other machines do the jobs that are brought: secrets that only this process has are of no use to them.
    package var bringsForOthers: Bool {
        switch self {
        case .worker, .submitter: true
        case .owner, .onlooker: false
        }
    }
}
