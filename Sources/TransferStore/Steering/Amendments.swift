import GRDB
import TransferCore
package import TransferJobs

/// Changes of single jobs that wait, or that this process has: of what doesn't make other jobs of them.
package struct Amendments: Sendable {
    package let database: QueueDatabase

    /// - Parameters:
    ///   - isOwn: Whether a job is meant that this process has claimed.
    ///   - change: Changes no part of the job's fingerprint.
    /// - Returns: Whether the job was changed: one that another process has, or that has ended, isn't.
    package func amend(_ number: Int64, isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Bool {
        let states = isOwn ? "\(JobStates.claimed)" : JobStates.unclaimed
        return try database.write { db in
            let text = try String.fetchOne(
                db, sql: "SELECT spec FROM job WHERE id = ? AND owner IS ? AND state IN (\(states))",
                arguments: [number, isOwn ? database.process : nil])
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
