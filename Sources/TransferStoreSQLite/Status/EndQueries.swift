import FoundationEssentials
package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
import TransferStore

/// The ends of jobs, for processes that read the queue.
package struct EndQueries: Sendable {
    package let database: QueueDatabase

    /// Reads the failed jobs of a batch, in the order in which they failed.
    package func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT batch.name, identity, errorCode, errorMessage, status, host, attempts, notBefore, due, delay, spec, finalURL
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND state = \(JobStates.failed) ORDER BY endSequence LIMIT ?
                    """, arguments: [name, limit]
            ).map { row in
                var job = FailedJob(
                    batch: row[stored: 0], job: row[stored: 1], code: row[stored: 2] ?? "",
                    message: row[stored: 3] ?? "", status: row[stored: 4],
                    host: row[stored: 5], attempts: row[stored: 6], again: StoredWait(row)?.shownEnd(),
                    route: Self.route(row))
                job.finalURL = row[stored: "finalURL"]
                return job
            }
        }
    }

    package static let tables = "job JOIN batch ON batch.id = job.batch"

    /// The columns that ``event(_:)`` reads.
    package static let selection =
        "SELECT batch.name, \(StoredEnd.columns.map { "job.\($0.sqlite)" }.joined(separator: ", "))"

    /// Reads ends of jobs behind the cursor, in order.
    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    \(Self.selection) FROM \(Self.tables)
                    WHERE endSequence > ? ORDER BY endSequence LIMIT ?
                    """, arguments: [cursor, limit]
            ).map(Self.event)
        }
    }

    /// Makes the end of a row's job.
    package static func event(_ row: Row) -> QueueEvent {
        StoredEnd.event(of: row[stored: 0]) { row.value($0, at: StoredEnd.place($0)) }
    }

    private static func route(_ row: Row) -> JobRoute? {
        (row[stored: "spec"] as String?).flatMap { try? JobSpec(canonicalJSON: $0) }.map { JobRoute($0) }
    }

    /// Returns the end of one job, or `nil` while it has not ended or when there is no such job.
    package func end(batch: String, job: String) throws -> QueueEvent? {
        try database.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    \(Self.selection) FROM \(Self.tables)
                    WHERE batch.name = ? AND identity = ? AND state >= \(JobStates.firstEnded)
                    """, arguments: [batch, job]
            ).map(Self.event)
        }
    }

    package func lastCursor() throws -> Int64 {
        try database.read(leavesPacks: true) { db in
            try EndNumbers.last(db)
        }
    }
}
