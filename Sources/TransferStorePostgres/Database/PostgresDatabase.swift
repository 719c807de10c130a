import Synchronization
import TransferCore
import TransferEventLoop
package import TransferJobs
import TransferStore

/// A process's access to the database of a queue: the connection, the process's lease, and the transactions on which
/// all parts of the store are built.
package final class PostgresDatabase: Sendable {
    package let address: PostgresAddress
    package let role: PostgresRole
    /// The fencing token of this process's lease (``/TransferStore/Lease/generation``); 0 for a process that only
    /// reads.
    package let process: Int64
    package let lease = PostgresLeaseEnd()
    package let holdings = PostgresHoldings()
    /// The tags that this process has in addition to those of its role, as a watcher of folders.
    private let folderTags = Mutex<Set<String>>([])

    /// A lock that admits one transaction at a time.
    private let turn = Mutex<Void>(())
    private let connection: Mutex<PostgresConnection?>
    /// The signal that ends the wait for a connection that is being made.
    private let dialing = Mutex<PostgresCancellation?>(nil)
    private let patience: PostgresRetries
    private let abandonment = PostgresCancellation()
    package let names = PostgresNames()

    /// Opens the queue. A process that takes part in it makes the tables where there are none, and is registered.
    ///
    /// - Parameter opening: The signal that ends the wait for the first connection.
    /// - Throws: `TransferError`.
    package init(
        _ address: PostgresAddress, _ role: PostgresRole = .owner,
        opening: PostgresCancellation = PostgresCancellation()
    ) throws {
        self.address = address
        self.role = role
        patience = PostgresRetries(role, lease)
        do {
            let first = try PostgresConnection(address, opening, names: names)
            try first.begin(address, as: role)
            let migration = PostgresMigration(address: address)
            if role.isOnlooker {
                try migration.requireTables(first)
                process = 0
            } else {
                try migration.run(first)
                let (asked, term) = (MonotonicTime.now, role.term)
                process = try Self.repeating {
                    try PostgresTransaction.run(first) { PostgresOutcome(try PostgresLeases.register($0, role)) }
                }
                lease.renewed(until: asked + term)
                try PostgresLeases.takeOver(in: first, own: process)
            }
            connection = Mutex(first)
        } catch let fault as PostgresFault {
            throw fault.explained(address)
        }
    }

    /// Ends present and later waits for a database that may be away. May be called by any thread.
    package func abandon() {
        abandonment.tell()
        cancelWaits()
    }

    /// Ends present waits. Later questions fail instead of waiting for a database that is away.
    package func cancelWaits() {
        patience.giveUp()
        connection.withLock { $0 }?.abandon()
        dialing.withLock { $0 }?.tell()
    }

    /// Whether ``cancelWaits()`` was called.
    package var areWaitsCancelled: Bool { patience.isOver }

    /// Whether the last attempts to reach the database failed.
    package var isAway: Bool { patience.isAway }

    /// Returns the connection, or a new one where that was lost.
    private func connected() throws -> PostgresConnection {
        guard !abandonment.isReported else {
            throw TransferError(.cancelled, "the wait for the queue's database was ended")
        }
        if let known = connection.withLock({ $0 }), !known.isBroken { return known }
        let attempt = PostgresCancellation()
        dialing.withLock { $0 = attempt }
        defer { dialing.withLock { $0 = nil } }
        // The time limit is read after the attempt is known to ``cancelWaits()``. A call of it before that did not see
        // the attempt, which then gets a short limit.
        let new = try PostgresConnection(again: address, attempt, names: names, within: patience.connectTimeout)
        try new.begin(address, as: role)
        connection.withLock { $0 = new }
        return new
    }

    /// Does `work`, and repeats it where the database was away.
    private func withRetries<Value>(_ work: (PostgresConnection) throws -> Value) throws -> Value {
        var (attempts, refusals) = (0, 0)
        while true {
            do {
                let value = try work(try connected())
                patience.isThere()
                return value
            } catch  where PostgresFault.isUnavailable(error) {
                attempts += 1
                // The server is there, so that the lease never ends such a loop.
                if (error as? PostgresFault)?.isCancelled == true { refusals += 1 }
                guard refusals < PostgresRetries.mostCancelled else { throw error }
                try patience.wait(after: error, attempts: attempts) { PostgresFault.explained($0, address) }
            }
        }
    }

    // MARK: Tags

    /// The tags of this process. It takes no jobs that ask for other tags.
    package var tags: WorkerTags { tags(adding: []) }

    package func tags(adding more: [String]) -> WorkerTags {
        let own = folderTags.withLock { $0 }
        return WorkerTags(own.union(role.tags.names).union(more)) ?? role.tags
    }

    package func add(tag: String) { folderTags.withLock { _ = $0.insert(tag) } }

    /// Returns whether the lane's jobs ask for no other tags.
    package func mayDo(_ lane: Lane) -> Bool { WorkerTags(text: lane.tags).map(tags.cover) ?? lane.tags.isEmpty }

    // MARK: Transactions

    /// Reads the queue. Where the connection turns out to be lost, the question is repeated in another one.
    package func read<Value: Sendable>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try turn.withLock { _ in
            try withRetries { db in
                if role.isOnlooker { db.limit = .now + Self.answerLimit }
                db.cancelsAtServer = true
                defer { db.cancelsAtServer = false }
                let value = try body(db)
                try db.settle()
                return value
            }
        }
    }

    /// Changes the queue.
    ///
    /// The transaction is repeated if another process is in the way. The database is asked for the transaction's
    /// outcome if the connection is lost at its end.
    ///
    /// - Parameters:
    ///   - isDurable: Whether the change waits for the server's disk; otherwise a loss of the server's power may lose
    ///     it.
    ///   - isRepeatable: Whether the change may be done twice. Its outcome is not looked up then, and all of it is one
    ///     round trip if the body waits for nothing.
    ///   - body: The change, which may be called several times. Statements that it posts are sent with the
    ///     transaction's end.
    package func write<Value: Sendable>(
        isDurable: Bool = true, isRepeatable: Bool = false, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try change(isDurable: isDurable, isRepeatable: isRepeatable, isFenced: false) { PostgresOutcome(try body($0)) }
    }

    /// Changes jobs of this process, for as long as its lease holds.
    ///
    /// - Throws: ``/TransferStore/LeaseLost``.
    package func writeFenced<Value: Sendable>(
        isDurable: Bool = true, isRepeatable: Bool = false, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try change(isDurable: isDurable, isRepeatable: isRepeatable, isFenced: true) { PostgresOutcome(try body($0)) }
    }

    /// Changes the queue, with a result that can also be looked up after a lost connection.
    package func transact<Value: Sendable>(
        _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        try change(isDurable: true, isRepeatable: false, isFenced: false, body)
    }

    /// Changes jobs of this process, with a result that may depend on answers that are still to come.
    ///
    /// - Throws: ``/TransferStore/LeaseLost``.
    package func transactFenced<Value: Sendable>(
        isDurable: Bool = true, _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        try change(isDurable: isDurable, isRepeatable: false, isFenced: true, body)
    }

    private func change<Value: Sendable>(
        isDurable: Bool, isRepeatable: Bool, isFenced: Bool,
        _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        try turn.withLock { _ in
            try Self.repeating {
                var open: PostgresTransaction.Unsettled<Value>?
                return try withRetries { db in
                    // A change of a large batch may take long.
                    if role.isOnlooker { db.limit = nil }
                    if let known = open {
                        if try known.isCommitted(db) { return try known.outcome.lookUp(db) }
                        open = nil
                    }
                    if isFenced { try holdings.prove(db, self) }
                    let unsettled = isRepeatable ? nil : { open = $0 }
                    return try PostgresTransaction.run(db, isDurable: isDurable, unsettled: unsettled) { db in
                        if isFenced { try requireLease(db) }
                        return try body(db)
                    }
                }
            }
        }
    }

    /// Prepares rows in a table of the connection alone, and then changes the queue by them. That transaction is
    /// repeated where another process was in the way. The preparation is not, because it cannot be repeated.
    package func write<Prepared, Value: Sendable>(
        preparing prepare: (PostgresConnection) throws -> Prepared,
        _ body: (PostgresConnection, Prepared) throws -> Value
    ) throws -> Value {
        try turn.withLock { _ in
            let db = try connected()
            let prepared = try prepare(db)
            try db.settle()
            return try Self.repeating { try PostgresTransaction.run(db) { PostgresOutcome(try body($0, prepared)) } }
        }
    }

    private static let attempts = 5

    /// The longest wait of a process that only reads for the answers to one question, after which it reports that there
    /// are none.
    private static let answerLimit = Duration.seconds(30)

    private static func repeating<Value>(_ transact: () throws -> Value) throws -> Value {
        for _ in 1..<attempts {
            do {
                return try transact()
            } catch let fault as PostgresFault where fault.isConflict {
                continue
            }
        }
        return try transact()
    }

    /// Locks the lease of this process; every transaction that changes its jobs begins with this. A process that takes
    /// over its claims deletes its row, and waits for this lock. So one of the two comes first.
    ///
    /// The answer is not waited for. Where the row is gone, the server skips all later statements, and the next wait
    /// throws ``/TransferStore/LeaseLost``.
    package func requireLease(_ db: PostgresConnection) throws {
        try db.post(Self.lock, [process]) { fault in
            if fault.code == Self.divisionByZero { LeaseLost() as any Error } else { fault }
        }
    }

    // MARK: Statements

    private static let divisionByZero = "22012"

    /// A statement that fails without the row.
    private static let lock = PostgresStatement(
        "lock_lease", [.submit, .work],
        "SELECT 1 / count(*) FROM (SELECT 1 FROM process WHERE generation = $1 FOR KEY SHARE) AS own")

    package static let statements = [
        lock
    ]
}
