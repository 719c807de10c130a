import CTransferLinux
import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// Records of ends and steps of jobs, with their consequences for other jobs and for watched folders.
package struct Records: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs
    package let packed: PackedJobs
    package let stamps: HistoryStamps

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        for step in steps { reserves.cameBack(step.batch) }
        return try database.writeFenced(leavesPacks: true) { db in
            var recorded = RecordedGroup()
            try StoredWait.follow(db)
            let now = WallClock.milliseconds
            var last = ends.isEmpty ? 0 : try EndNumbers.take(db, ends.count) - Int64(ends.count)
            var writer = try EndWriter(db, packed: packed, now: now, ends, steps)
            for note in JobNote.uploads(ends, steps) { try JobNotes.write(db, note) }
            recorded.cursors.reserveCapacity(ends.count)
            for index in ends.indices {
                last += 1
                recorded.cursors.append(last)
                try writer.write(index, cursor: last)
            }
            try writer.finish()
            let hooked = ends.filter { $0.tellsHook }
            if !hooked.isEmpty {
                recorded.hooked = try HookCalls.add(
                    db, ended: hooked.map(\.id), kept: Set(hooked.filter(\.wasKept).map(\.id)))
            }
            try WatchedRecords(db, stamps).record(ends, cursor: last, steps, now: now, &recorded) { try write(db, $0) }
            var needing: [Int64: Bool] = [:]
            for end in ends {
                let hasNeeds = try needing[end.batch] ?? Needs.areIn(db, batch: end.batch)
                needing[end.batch] = hasNeeds
                if hasNeeds { try Needs.settle(db, of: end, &recorded) }
            }
            Failpoint.reached(.recordUncommitted)
            return recorded
        }
    }

    private func write(_ db: Database, _ step: JobStep) throws {
        try db.execute(
            sql: Self.stepping.sql,
            arguments: Self.stepping.arguments(state: step.state, [step.id]) { try step.value($0) })
    }

    /// The jobs belong to this process, because the transaction is fenced.
    private static let stepping = JobUpdate(.step, guards: false) { "id = ?\($0)" }
}
