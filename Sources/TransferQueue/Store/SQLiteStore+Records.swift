import CTransferFailpoint
import FoundationEssentials
import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop

extension SQLiteStore {
    func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        for step in steps { reserves.cameBack(step.batch) }
        return try database.write { db in
            try requireLease(db)
            var recorded = RecordedGroup()
            try StoredWait.follow(db)
            let now = WallClock.milliseconds
            var last =
                ends.isEmpty
                ? 0
                : try Int64.fetchOne(
                    try db.cachedStatement(
                        sql: "UPDATE counter SET value = value + ? WHERE name = 'end' RETURNING value"),
                    arguments: [ends.count]) ?? 0
            last -= Int64(ends.count)
            var ledger = LedgerRecorder(db, now: now)
            var writer = try EndWriter(db, packed: packed, now: now, ends, steps)
            recorded.cursors.reserveCapacity(ends.count)
            for (index, end) in ends.enumerated() {
                last += 1
                recorded.cursors.append(last)
                try writer.write(index, cursor: last)
                try ledger.record(end, cursor: last)
            }
            try writer.finish()
            for step in steps where try !ledger.supersedes(step) { try write(db, step) }
            recorded.watched = try ledger.finish(&recorded.unblocked, stamp: nextStamp())
            var needing: [Int64: Bool] = [:]
            for end in ends {
                let hasNeeds = try needing[end.batch] ?? hasNeeds(db, end.batch)
                needing[end.batch] = hasNeeds
                if hasNeeds { try settleNeeds(db, of: end, &recorded) }
            }
            Failpoint.reached(.recordUncommitted)
            return recorded
        }
    }

    private func write(_ db: Database, _ step: JobStep) throws {
        let resume = try Self.text(step.resume)
        let keepsOwner = step.state == .claimed
        let wait = step.due.map { StoredWait(until: $0) }
        try db.execute(
            sql: """
                UPDATE job SET state = ?, owner = CASE WHEN ? THEN owner END, isSending = 0, attempts = ?, mirror = ?,
                    spentMirrors = ?, notBefore = ?, due = ?, delay = ?, askedWait = ?, origin = ?, resume = ?,
                    errorCode = ?, errorMessage = ? WHERE id = ?
                """,
            arguments: [
                step.state.rawValue, keepsOwner, step.attempts, step.mirror,
                Int64(bitPattern: step.spentMirrors), wait?.wall, wait?.boot, wait?.length,
                step.askedWait.inMilliseconds, step.origin, resume,
                step.error?.code.rawValue, step.error?.message, step.id,
            ])
    }

    private func hasNeeds(_ db: Database, _ batch: Int64) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT hasNeeds FROM batch WHERE id = ?")
        return try Bool.fetchOne(statement, arguments: [batch]) ?? false
    }

    private func settleNeeds(_ db: Database, of end: JobEnd, _ recorded: inout RecordedGroup) throws {
        switch end.outcome {
        case .done, .kept:
            let rows = try Row.fetchAll(
                db,
                sql: """
                    UPDATE job SET needsLeft = needsLeft - 1
                    WHERE id IN (SELECT job FROM need WHERE needed = ?) AND needsLeft > 0
                    RETURNING id, needsLeft, state, batch, origin, network
                    """, arguments: [end.id])
            for row in rows where row[1] == 0 && row[2] == JobState.blocked.rawValue {
                let id: Int64 = row[0]
                try db.execute(sql: "UPDATE job SET state = \(JobStates.queued) WHERE id = ?", arguments: [id])
                recorded.unblocked[Lane(batch: row[3], origin: row[4], network: row[5]), default: 0] += 1
            }
        case .failed, .cancelled, .dropped:
            recorded.skipped += try Self.skipDependents(db, of: [(end.id, end.identity)])
        }
    }

    /// Puts the numbers of a running batch where `transfer status` finds them.
    func publish(_ told: RunProgress) throws {
        let numbers = told.underWay.isEmpty ? "" : " " + told.underWay.map { "\($0) " }.joined()
        try writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: """
                    UPDATE batch SET toldJobs = ?, toldDone = ?, rate = ?, eta = ?, active = ?, underWay = ?, waitingFor = ?,
                        updated = ? WHERE id = ?
                    """,
                arguments: [
                    told.totals.jobs, told.totals.kept + told.totals.completed, told.rate, told.eta, told.active,
                    numbers, told.waitingFor, WallClock.milliseconds, told.batch,
                ])
        }
    }

    // Where that is lost with the machine's power, the process is found to be gone, and the pack to have nothing that
    // isn't in rows.
    func letGo(batch: Int64, isComplete: Bool) throws -> [String] {
        defer { packed.forget(batch) }
        reserves.forget(batch)
        if isComplete { doubtful.runEnded(of: batch) }
        return try writeRelaxed(leavesPacks: true) { db in
            if isComplete, try Self.dropPack(db, batch: batch) {
                try Self.endReserve(db, batch: batch)
            } else {
                try Self.dissolveReserve(db, batch: batch)
            }
            try db.execute(
                sql:
                    """
                    UPDATE batch SET owner = NULL, rate = 0, eta = NULL, active = 0, underWay = '', waitingFor = NULL,
                        updated = ? WHERE id = ? AND owner = ?
                    """,
                arguments: [WallClock.milliseconds, batch, process])
            return try String.fetchAll(
                db, sql: "DELETE FROM listener WHERE batch = ? RETURNING socket", arguments: [batch])
        }
    }
}
