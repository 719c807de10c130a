import GRDB
import TransferCore
package import TransferJobs

/// Changes of single jobs that wait: of what doesn't make other jobs of them.
package struct Amendments: Sendable {
    package let database: QueueDatabase

    /// - Parameter change: Changes no part of the job's fingerprint.
    /// - Returns: Whether the job was changed: one that a process has, or that has ended, isn't.
    package func amend(_ number: Int64, _ change: (inout JobSpec) -> Void) throws -> Bool {
        try database.write { db in
            let text = try String.fetchOne(
                db, sql: "SELECT spec FROM job WHERE id = ? AND owner IS NULL AND state IN (\(JobStates.unclaimed))",
                arguments: [number])
            guard let text else { return false }
            var spec = try JobSpec(canonicalJSON: text)
            change(&spec)
            try db.execute(
                sql: "UPDATE job SET spec = ?, priority = ? WHERE id = ?",
                arguments: [spec.canonicalJSON, spec.priority, number])
            return true
        }
    }
}
