package import GRDB
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferStore

/// The leases by which processes hold batches and jobs, and the release of these when a process ends.
package struct Leases: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs
    package let doubtful: DoubtfulBatches

    package static func register(_ db: Database, _ locks: LeaseLocks) throws -> Int64 {
        try reclaim(db, locks, own: 0)
        try StoredWait.follow(db)
        let me = ProcessIdentity.current
        try db.execute(
            sql: "INSERT INTO process (pid, started, boot, until) VALUES (?, ?, ?, ?)",
            arguments: [me.pid, me.started, me.boot, leaseEnd()])
        let generation = db.lastInsertedRowID
        if locks.hold(generation) {
            try db.execute(sql: "UPDATE process SET isLocked = 1 WHERE id = ?", arguments: [generation])
        }
        return generation
    }

    /// Returns the end of a lease that begins now, in milliseconds of `CLOCK_BOOTTIME`.
    private static func leaseEnd() -> Int64 {
        (StoredWait.Now.system.boot + Lease.term).nanoseconds / 1_000_000
    }

    package func renew() throws -> Lease {
        let end = Self.leaseEnd()
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(sql: "UPDATE process SET until = ? WHERE id = ?", arguments: [end, database.process])
            guard db.changesCount > 0 else { throw LeaseLost() }
        }
        return Lease(generation: database.process, until: MonotonicTime(nanoseconds: end * 1_000_000))
    }

    /// Frees the batches and jobs of processes whose leases are over.
    package func reclaim(_ db: Database) throws { try Self.reclaim(db, database.locks, own: database.process) }

    /// Frees the batches and jobs of processes whose leases are over.
    ///
    /// A POST whose body may have left the machine is not sent again automatically, because it is unknown whether it
    /// arrived.
    private static func reclaim(_ db: Database, _ locks: LeaseLocks, own: Int64) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT \(LeaseHolder.columns), socket FROM process")
        for row in rows {
            guard let holder = LeaseHolder(row), !holder.holds(locks, own: own) else { continue }
            let id = holder.generation
            try ReserveRows.dissolveAll(db, of: id)
            try endWhatMayHaveArrived(db, of: id)
            try db.execute(sql: recovery.sql, arguments: recovery.arguments([id]))
            try forget(db, process: id)
            if let socket: String = row[stored: "socket"] { unlink(socket) }
        }
        try ReserveRows.dissolveOrphans(db)
    }

    /// Fails uploads whose body may have left and must not be sent again automatically, such as a POST.
    private static func endWhatMayHaveArrived(_ db: Database, of process: Int64) throws {
        try db.execute(
            sql: interruption.sql, arguments: interruption.arguments([process]) { UploadRules.value($0) })
        guard db.changesCount > 0 else { return }
        let known = try EndNumbers.last(db)
        try EndNumbers.number(db)
        let hooked = try Int64.fetchAll(
            db, sql: "SELECT id FROM job WHERE endSequence > ? AND \(HookCalls.mark)", arguments: [known])
        _ = try HookCalls.add(db, ended: hooked)
        let batches = try Int64.fetchAll(
            db, sql: "SELECT DISTINCT batch FROM job WHERE errorCode = ? AND state = \(JobStates.failed)",
            arguments: [UploadRules.interrupted.code.rawValue])
        for batch in batches { _ = try Needs.skipWhatCannotStart(db, batch: batch) }
    }

    package func retire() throws {
        reserves.forgetAll()
        try database.writeRelaxed { db in
            try ReserveRows.dissolveAll(db, of: database.process)
            for batch in doubtful.reported {
                try db.execute(
                    sql: """
                        UPDATE job SET wasInterrupted = 0
                        WHERE batch = ? AND state = \(JobStates.failed) AND errorCode = ?
                        """, arguments: [batch, UploadRules.interrupted.code.rawValue])
            }
            // A run may end without waiting for its transfers.
            try Self.endWhatMayHaveArrived(db, of: database.process)
            try db.execute(sql: Self.handingBack.sql, arguments: Self.handingBack.arguments([database.process]))
            try Self.forget(db, process: database.process)
        }
        database.locks.release(database.process)
    }

    private static func forget(_ db: Database, process: Int64) throws {
        try db.execute(
            sql: "UPDATE batch SET owner = NULL, rate = 0, eta = NULL WHERE owner = ?", arguments: [process])
        try db.execute(sql: "DELETE FROM command WHERE process = ?", arguments: [process])
        try db.execute(sql: "DELETE FROM process WHERE id = ?", arguments: [process])
    }

    // MARK: Changes

    private static let recovery = JobUpdate(.recover) { "owner = ?\($0)" }

    private static let handingBack = JobUpdate(.giveBack) { "owner = ?\($0)" }

    private static let interruption = JobUpdate(.interrupt) { "owner = ?\($0) AND isSending = 1" }
}
