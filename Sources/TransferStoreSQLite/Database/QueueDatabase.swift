package import GRDB
import TransferCore
import TransferStore

/// A process's access to the database of a queue: the connection, the process's lease, and the transactions on which
/// all parts of the store are built.
///
/// The jobs of a new batch may be packed (``Packs``). Each transaction gives them their rows first, unless
/// `leavesPacks` is set.
package final class QueueDatabase: Sendable {
    package let connection: DatabaseQueue
    /// The database's file, for messages.
    package let path: String
    /// The row of this process, and the fencing token of its lease (``Lease/generation``); 0 for a process that only
    /// reads.
    package let process: Int64
    package let locks: LeaseLocks

    package init(_ connection: DatabaseQueue, path: String, process: Int64, locks: LeaseLocks) {
        self.connection = connection
        self.path = path
        self.process = process
        self.locks = locks
    }

    /// Reads the queue.
    ///
    /// - Parameter leavesPacks: Whether jobs may stay packed, for questions that do not concern single jobs.
    package func read<Value>(leavesPacks: Bool = false, _ body: (Database) throws -> Value) throws -> Value {
        if leavesPacks { return try connection.read { db in try RowDamage.refused { try body(db) } } }
        while true {
            let value: Value? = try connection.read { db in
                try RowDamage.refused { try Packs.exist(db) ? nil : try body(db) }
            }
            if let value { return value }
            do {
                try connection.write { db in try RowDamage.refused { try Packs.unpackAll(db) } }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                // A reader has time to wait for a process that holds the write lock for long.
            }
        }
    }

    /// Changes the queue, and waits for the disk.
    package func write<Value>(leavesPacks: Bool = false, _ body: (Database) throws -> Value) throws -> Value {
        try connection.write { db in
            try RowDamage.refused {
                if !leavesPacks { try Packs.unpackAll(db) }
                return try body(db)
            }
        }
    }

    /// Makes a change whose loss only costs repeated work, without an fsync.
    package func writeRelaxed<Value>(leavesPacks: Bool = false, _ body: (Database) throws -> Value) throws -> Value {
        try connection.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            defer { try? db.execute(sql: "PRAGMA synchronous = FULL") }
            var result: Value?
            try db.inTransaction(.immediate) {
                result = try RowDamage.refused {
                    if !leavesPacks { try Packs.unpackAll(db) }
                    return try body(db)
                }
                return .commit
            }
            return try Self.result(result)
        }
    }

    /// Changes jobs of this process, for as long as its lease holds.
    ///
    /// - Parameter isDurable: Whether the change waits for the disk, and is not left to a later commit.
    /// - Throws: ``LeaseLost``.
    package func writeFenced<Value>(
        isDurable: Bool = true, leavesPacks: Bool = false, _ body: (Database) throws -> Value
    ) throws -> Value {
        func fenced(_ db: Database) throws -> Value {
            try requireLease(db)
            return try body(db)
        }
        return try isDurable
            ? write(leavesPacks: leavesPacks, fenced) : writeRelaxed(leavesPacks: leavesPacks, fenced)
    }

    /// Changes the queue, durably, in a transaction that excludes all other writers from its beginning. Packs are left
    /// as they are.
    ///
    /// - Parameter body: The change, which gives a result, and whether the transaction is kept.
    package func exclusively<Value>(
        _ body: (Database) throws -> (value: Value, completion: Database.TransactionCompletion)
    ) throws -> Value {
        var result: Value?
        try connection.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                let (value, completion) = try RowDamage.refused { try body(db) }
                result = value
                return completion
            }
        }
        return try Self.result(result)
    }

    private static func result<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw TransferError(.internalFault, "a transaction without a result") }
        return value
    }

    /// Makes all relaxed writes so far durable, because a commit that waits for the disk covers all commits before it.
    /// The commit has to change a value, as SQLite writes no page that stays the same.
    package func makeDurable() throws {
        try connection.write { db in
            try db.execute(
                sql: """
                    INSERT INTO counter VALUES ('durable', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1
                    """)
        }
    }

    /// Throws where the lease of this process was taken over. Every transaction that changes jobs of this process calls
    /// this, and a process that takes over its claims removes its row in the same transaction.
    ///
    /// - Throws: ``LeaseLost``.
    package func requireLease(_ db: Database) throws {
        guard process != 0 else { return }
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM process WHERE id = ?")
        guard try Bool.fetchOne(statement, arguments: [process]) != nil else { throw LeaseLost() }
    }
}
