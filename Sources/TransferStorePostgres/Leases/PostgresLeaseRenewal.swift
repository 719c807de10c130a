import Synchronization
import TransferCore
import TransferEventLoop
package import TransferStore

/// The renewal of a process's lease and the reception of notifications, on a connection and a thread of their own. So a
/// long statement, such as those of a large job file, delays neither.
package final class PostgresLeaseRenewal: Sendable {
    private let database: PostgresDatabase
    private let hear: @Sendable (StoreNotification) -> Void
    private let thread = WorkerPool(name: "queue-lease", threads: 1)
    private let end = PostgresCancellation()

    /// - Parameter hear: The receiver of notifications, called by the renewal's thread.
    package init(_ database: PostgresDatabase, _ hear: @escaping @Sendable (StoreNotification) -> Void) {
        self.database = database
        self.hear = hear
    }

    package func start() {
        thread.execute { [self] in
            // A connection that is lost is made anew until the lease is over.
            var pauses = ReconnectPauses(longest: PostgresRetries.longest)
            while !end.isReported {
                let term = database.lease.time
                do {
                    try keep()
                } catch is LeaseLost {
                    database.lease.lost()
                    return hear(.leaseIsOver(LeaseLost()))
                } catch {
                    guard left > .zero else { return hear(.leaseIsOver(error)) }
                    // The lost connection had renewed the lease, so the pauses begin anew.
                    if database.lease.time > term { pauses.reset() }
                    guard end.rest(min(pauses.next(), left / 2)) else { return }
                }
            }
        }
    }

    package func stop() {
        end.tell()
        thread.stop()
    }

    /// The time for which transfers may still continue, because their results must be recorded or given back by the
    /// lease's end.
    private var left: Duration { database.lease.time - .now - margin }

    private var margin: Duration { database.role.term / 6 }

    /// Renews and listens until the connection is lost, or ``stop()`` is called.
    private func keep() throws {
        guard left > .zero else { throw LeaseLost() }
        let db = try PostgresConnection(
            again: database.address, end, names: database.names, within: min(left, PostgresConnection.connectTimeout))
        try db.begin(database.address, as: database.role)
        try db.script("LISTEN \(PostgresNotice.channel(database.address))")
        // Notifications before the LISTEN did not reach this process, so jobs and commands are looked for once.
        hear(.changed)
        hear(.commanded)
        hear(.revoked)
        while !end.isReported {
            let (asked, term) = (MonotonicTime.now, database.role.term)
            db.limit = asked + left
            // The renewal is durable: a crash of the database that forgot it would end the lease sooner than this
            // process assumes.
            try PostgresTransaction.run(db) {
                PostgresOutcome(try PostgresLeases.renew($0, database.process, term))
            }
            database.lease.renewed(until: asked + term)
            db.limit = .now + left
            try PostgresLeases.takeOver(in: db, own: database.process)
            let next = asked + term / 3
            while MonotonicTime.now < next, !end.isReported {
                for text in Set(try db.notices(until: next)) {
                    switch PostgresNotice(rawValue: text) {
                    case .work: hear(.changed)
                    case .commands: hear(.commanded)
                    case .recalls: hear(.revoked)
                    case .watched: hear(.watched)
                    case .pause: hear(.paused)
                    case .noPauses: hear(.unpaused)
                    case nil: break
                    }
                }
            }
        }
    }
}
