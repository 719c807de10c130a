import Synchronization
package import TransferCore
import TransferEventLoop

/// The rules for how long a process waits for a database that is away, and to which caller it reports that. Used by one
/// transaction at a time.
package final class PostgresRetries: Sendable {
    private struct Reported {
        var isAway = false
        var isOver = false
        var pauses = ReconnectPauses(first: PostgresRetries.first, longest: PostgresRetries.longest)
    }

    private let isPatient: Bool
    private let lease: PostgresLeaseEnd
    private let tell: @Sendable (TransferError?) -> Void
    private let reported = Mutex(Reported())
    private let end = PostgresCancellation()

    /// The first and the longest pause between two attempts, while the lease lasts.
    private static let first = Duration.seconds(1)
    package static let longest = Duration.seconds(10)

    /// The maximum number of attempts at one transaction whose statements the server gives up (`statement_timeout`).
    package static let mostCancelled = 5

    package init(_ role: PostgresRole, _ lease: PostgresLeaseEnd) {
        self.lease = lease
        if case .worker(let worker) = role {
            (isPatient, tell) = (true, worker.tell)
        } else {
            (isPatient, tell) = (false, { _ in })
        }
    }

    /// Ends all waits, present and later ones.
    package func giveUp() {
        reported.withLock { $0.isOver = true }
        end.tell()
    }

    package var isOver: Bool { reported.withLock { $0.isOver } }

    /// Whether the last attempt failed.
    package var isAway: Bool { reported.withLock { $0.isAway } }

    package var connectTimeout: Duration { isOver ? .seconds(2) : PostgresConnection.connectTimeout }

    /// Waits until another attempt is worthwhile.
    ///
    /// - Parameters:
    ///   - error: The error of the last attempt.
    ///   - count: The number of attempts so far. A connection that was lost since the last transaction is no failure
    ///     yet. A database that did not answer in time is one.
    /// - Throws: The error, where no further attempt is to be made.
    package func wait(after error: any Error, attempts count: Int, explained: (any Error) -> TransferError?) throws {
        if count == 1, (error as? TransferError)?.code != .timedOut { return }
        guard isPatient else { throw error }
        let (isNews, pause) = reported.withLock { reported in
            defer { reported.isAway = true }
            return (!reported.isAway && !reported.isOver, reported.pauses.next())
        }
        let left = lease.time - .now
        guard left > Self.first / 2 else { throw error }
        if isNews { tell(explained(error)) }
        guard end.rest(min(pause, left / 2)) else { throw error }
    }

    /// Notes that the database has answered.
    package func isThere() {
        let isNews = reported.withLock { reported in
            guard reported.isAway else { return false }
            reported.isAway = false
            reported.pauses.reset()
            return true
        }
        if isNews { tell(nil) }
    }
}
