import Synchronization
import TransferCore
import TransferStore

/// The database of a queue as one process has it: the connection, the process's lease, and the transactions that all parts
/// of the store are made of.
package final class PostgresDatabase: Sendable {
    package let address: PostgresAddress
    /// The fencing token of this process's lease (``/TransferStore/Lease/generation``).
    package let process: Int64

    /// One transaction at a time.
    private let turn = Mutex<Void>(())
    private let connection: Mutex<PostgresConnection?>

    /// Opens the queue, makes its tables where there are none, and registers this process.
    ///
    /// - Throws: `TransferError`.
    package init(_ address: PostgresAddress) throws {
        self.address = address
        do {
            let first = try Self.connect(address)
            try PostgresMigration(address: address).run(first)
            process = try Self.inTransaction(first) { try PostgresLeases.register($0) }
            connection = Mutex(first)
        } catch let fault as PostgresFault {
            throw fault.explained(address)
        }
    }

    /// Ends what is waited for: the queue's database may be away. For any thread.
    package func abandon() { connection.withLock { $0 }?.abandon() }

    private static func connect(_ address: PostgresAddress) throws -> PostgresConnection {
        let connection = try PostgresConnection(address)
        // A process that is cut off in a transaction holds what it has locked for a minute at most.
        try connection.script(
            """
            SET search_path = "\(address.schema)";
            SET client_min_messages = warning;
            SET bytea_output = 'hex';
            SET lock_timeout = '60s';
            SET idle_in_transaction_session_timeout = '60s'
            """)
        return connection
    }

    /// The connection, or a new one where that was lost.
    private func connected() throws -> PostgresConnection {
        if let known = connection.withLock({ $0 }), !known.isBroken { return known }
        let new = try Self.connect(address)
        connection.withLock { $0 = new }
        return new
    }

    // MARK: Transactions

    /// Looks at the queue by one statement. Where the connection turns out to be lost it's asked in another one.
    package func read<Value: Sendable>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try turn.withLock { _ in
            let db = try connected()
            do {
                return try body(db)
            } catch {
                guard db.isBroken else { throw error }
                return try body(try connected())
            }
        }
    }

    /// Changes the queue.
    ///
    /// Another process may be in the way: the transaction is done again then.
    ///
    /// - Parameters:
    ///   - isDurable: Waits for the server's disk; else a loss of the server's power may lose the change.
    ///   - body: May be called several times.
    package func write<Value: Sendable>(
        isDurable: Bool = true, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try turn.withLock { _ in
            try Self.repeating { try transact(isDurable, body) }
        }
    }

    /// Changes jobs of this process, as long as its lease holds.
    ///
    /// - Throws: ``/TransferStore/LeaseLost``.
    package func writeFenced<Value: Sendable>(
        isDurable: Bool = true, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try write(isDurable: isDurable) { db in
            try requireLease(db)
            return try body(db)
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
            return try Self.repeating { try Self.inTransaction(db) { try body($0, prepared) } }
        }
    }

    private static let attempts = 5

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

    private func transact<Value>(_ isDurable: Bool, _ body: (PostgresConnection) throws -> Value) throws -> Value {
        var db = try connected()
        do {
            return try Self.inTransaction(db, isDurable: isDurable, body)
        } catch is NotBegun {
            // Nothing was done yet: the server was started anew since the last transaction.
            db = try connected()
            return try Self.inTransaction(db, isDurable: isDurable, body)
        }
    }

    /// The connection was lost before the transaction began.
    private struct NotBegun: Error {}

    private static func inTransaction<Value>(
        _ db: PostgresConnection, isDurable: Bool = true, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        do {
            try db.script("BEGIN" + (isDurable ? "" : "; SET LOCAL synchronous_commit = off"))
        } catch {
            throw db.isBroken ? NotBegun() : error
        }
        do {
            let value = try body(db)
            try db.script("COMMIT")
            return value
        } catch {
            if !db.isBroken { try? db.script("ROLLBACK") }
            throw error
        }
    }

    /// Leaves the disk of the server out of the transaction that is under way.
    package func relax(_ db: PostgresConnection) throws { try db.script("SET LOCAL synchronous_commit = off") }

    /// Every transaction that changes jobs of this process begins with this. A process that takes over what this one had
    /// takes its row away, and waits for the lock that this takes: one of both comes first.
    ///
    /// - Throws: ``/TransferStore/LeaseLost``.
    package func requireLease(_ db: PostgresConnection) throws {
        let row = try db.run("SELECT 1 FROM process WHERE generation = $1 FOR KEY SHARE", [process]).first
        guard row != nil else { throw LeaseLost() }
    }
}
