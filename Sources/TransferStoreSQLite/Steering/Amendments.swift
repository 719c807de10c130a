import GRDB
import TransferCore
package import TransferJobs
import TransferStore

/// Changes of properties outside a job's fingerprint, of jobs that wait or that this process has claimed.
package struct Amendments: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs

    /// - Parameters:
    ///   - isOwn: Whether the jobs that this process has claimed are meant.
    ///   - change: The change, which leaves the job's fingerprint as it is.
    /// - Returns: The changed jobs; a job that another process has claimed, or that has ended, is not changed.
    package func amend(
        _ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void
    ) throws -> Set<Int64> {
        let states = isOwn ? "\(JobStates.claimed)" : JobStates.unclaimed
        return try database.write { db in
            if !isOwn { try giveBackReserves(db, of: numbers) }
            let find = try db.cachedStatement(
                sql: "SELECT spec FROM job WHERE id = ? AND owner IS ? AND state IN (\(states))")
            let update = try db.cachedStatement(sql: JobColumn.update([.spec, .priority]))
            var changed: Set<Int64> = []
            for number in numbers {
                let text = try String.fetchOne(find, arguments: [number, isOwn ? database.process : nil])
                guard let text else { continue }
                var spec = try JobSpec(canonicalJSON: text)
                change(&spec)
                try update.execute(arguments: [spec.canonicalJSON, spec.priority, number])
                changed.insert(number)
            }
            return changed
        }
    }

    /// - Parameter change: The change of failed jobs, which leaves a job's fingerprint as it is.
    /// - Returns: The changed jobs that may be tried again unasked: not those that may have arrived.
    package func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try database.write { db in
            let find = try db.cachedStatement(
                sql: "SELECT spec, errorCode FROM job WHERE id = ? AND state = \(JobStates.failed)")
            let update = try db.cachedStatement(sql: JobColumn.update([.spec, .priority]))
            var changed: Set<Int64> = []
            for number in numbers {
                guard let row = try Row.fetchOne(find, arguments: [number]) else { continue }
                let (text, code): (String, String?) = (row[stored: "spec"], row[stored: "errorCode"])
                var spec = try JobSpec(canonicalJSON: text)
                change(&spec)
                let new = spec.canonicalJSON
                guard new != text else { continue }
                try update.execute(arguments: [new, spec.priority, number])
                if code != TransferError.Code.mayHaveBeenSent.rawValue { changed.insert(number) }
            }
            return changed
        }
    }

    /// Gives back the reserves that hold these jobs, because a reserve keeps its jobs with their former content.
    private func giveBackReserves(_ db: Database, of numbers: [Int64]) throws {
        let find = try db.cachedStatement(
            sql: "SELECT batch.id FROM job JOIN batch ON batch.id = job.batch WHERE job.id = ? AND reserve = ?")
        for number in numbers {
            guard let batch = try Int64.fetchOne(find, arguments: [number, database.process]) else { continue }
            reserves.takeBack(batch)
            try ReserveRows.dissolve(db, batch: batch)
        }
    }
}
