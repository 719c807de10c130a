import Synchronization
import TransferCore
import TransferEventLoop
package import TransferJobs
import TransferStore

/// The database of a queue as one process has it: the connection, the process's lease, and the transactions that all parts
/// of the store are made of.
package final class PostgresDatabase: Sendable {
    package let address: PostgresAddress
    package let role: PostgresRole
    /// The fencing token of this process's lease (``/TransferStore/Lease/generation``); 0 for one that only looks.
    package let process: Int64
    package let lease = PostgresLeaseEnd()
    package let holdings = PostgresHoldings()
    /// The tags that this process has besides those of its role, as the watcher of folders.
    private let folderTags = Mutex<Set<String>>([])

    /// One transaction at a time.
    private let turn = Mutex<Void>(())
    private let connection: Mutex<PostgresConnection?>
    /// Ends the wait for a connection that is being made.
    private let dialing = Mutex<PostgresCancellation?>(nil)
    private let patience: PostgresRetries
    private let abandonment = PostgresCancellation()
    package let names = PostgresNames()

    /// Opens the queue. A process that has a part in it makes the tables where there are none, and is registered.
    ///
    /// - Parameter opening: Ends the wait for it.
    /// - Throws: `TransferError`.
    package init(
        _ address: PostgresAddress, _ role: PostgresRole = .owner, opening: PostgresCancellation = PostgresCancellation()
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

    /// Ends what is waited for, now and later: the queue's database may be away. For any thread.
    package func abandon() {
        abandonment.tell()
        cancelWaits()
    }

    /// Ends what is waited for. What is asked from now on fails instead of waiting for a database that is away.
    package func cancelWaits() {
        patience.giveUp()
        connection.withLock { $0 }?.abandon()
        dialing.withLock { $0 }?.tell()
    }

    /// Whether somebody has hurried.
    package var areWaitsCancelled: Bool { patience.isOver }

    /// The connection, or a new one where that was lost.
    private func connected() throws -> PostgresConnection {
        guard !abandonment.isReported else {
            throw TransferError(.cancelled, "the queue's database isn't waited for any more")
        }
        if let known = connection.withLock({ $0 }), !known.isBroken { return known }
        let attempt = PostgresCancellation()
        dialing.withLock { $0 = attempt }
        defer { dialing.withLock { $0 = nil } }
        // The bound is asked for afterwards: whoever hurried before that didn't see this attempt, which is a short one then.
        let new = try PostgresConnection(address, attempt, names: names, within: patience.connectTimeout)
        try new.begin(address, as: role)
        connection.withLock { $0 = new }
        return new
    }

    /// Does `work`, again where the database was away.
    private func withRetries<Value>(_ work: (PostgresConnection) throws -> Value) throws -> Value {
        var attempts = 0
        while true {
            do {
                let value = try work(try connected())
                patience.isThere()
                return value
            } catch  where PostgresFault.isConnectionNotice(error) {
                attempts += 1
                try patience.wait(after: error, attempts: attempts) { PostgresFault.explained($0, address) }
            }
        }
    }

    // MARK: Tags

    /// The tags of this process: jobs that ask for others aren't taken.
    package var tags: WorkerTags { tags(adding: []) }

    package func tags(adding more: [String]) -> WorkerTags {
        let own = folderTags.withLock { $0 }
        return WorkerTags(own.union(role.tags.names).union(more)) ?? role.tags
    }

    package func add(tag: String) { folderTags.withLock { _ = $0.insert(tag) } }

    /// Whether the lane's jobs ask for no other tags.
    package func mayDo(_ lane: Lane) -> Bool { WorkerTags(text: lane.tags).map(tags.cover) ?? lane.tags.isEmpty }

    // MARK: Transactions

    /// Looks at the queue. Where the connection turns out to be lost it's asked in another one.
    package func read<Value: Sendable>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try turn.withLock { _ in
            try withRetries { db in
                if role.isOnlooker { db.limit = .now + Self.answerLimit }
                let value = try body(db)
                try db.settle()
                return value
            }
        }
    }

    /// Changes the queue.
    ///
    /// Another process may be in the way: the transaction is done again then. Where the connection is lost at its end, the
    /// database is asked what became of it.
    ///
    /// - Parameters:
    ///   - isDurable: Waits for the server's disk; else a loss of the server's power may lose the change.
    ///   - isRepeatable: Whether it may be done twice: nobody looks it up then, and all of it is one flight where the body
    ///     waits for nothing.
    ///   - body: May be called several times. Statements that it posts go with the transaction's end.
    package func write<Value: Sendable>(
        isDurable: Bool = true, isRepeatable: Bool = false, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try change(isDurable: isDurable, isRepeatable: isRepeatable, isFenced: false) { PostgresOutcome(try body($0)) }
    }

    /// Changes jobs of this process, as long as its lease holds.
    ///
    /// - Throws: ``/TransferStore/LeaseLost``.
    package func writeFenced<Value: Sendable>(
        isDurable: Bool = true, isRepeatable: Bool = false, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try change(isDurable: isDurable, isRepeatable: isRepeatable, isFenced: true) { PostgresOutcome(try body($0)) }
    }

    /// Changes the queue, with a result that tells more of itself.
    package func transact<Value: Sendable>(
        _ body: (PostgresConnection) throws -> PostgresOutcome<Value>
    ) throws -> Value {
        try change(isDurable: true, isRepeatable: false, isFenced: false, body)
    }

    /// Changes jobs of this process, with a result that may be in answers that are still to come.
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

    /// Prepares something in a table of the connection alone, and then changes the queue by it. That transaction is done again
    /// where another process was in the way; what was prepared isn't, as it can't be.
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

    /// The longest time for the answers to one question of a process that only looks; it says then that there are none.
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

    /// Every transaction that changes jobs of this process begins with this. A process that takes over what this one had
    /// takes its row away, and waits for the lock that this takes: one of both comes first.
    ///
    /// The answer isn't waited for: where the row is gone the server does nothing of what comes behind it, and whoever waits next gets
    /// ``/TransferStore/LeaseLost``.
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
