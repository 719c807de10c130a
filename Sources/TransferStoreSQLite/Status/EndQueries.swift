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
    package static let selection = """
        SELECT endSequence, ended, batch.name AS name, identity, state, isUpload, path, size, transferred,
            seconds, digest, validator, finalURL, status, response, attempts, unproven, lengthUnproven, proofs, sums, sources,
            errorCode, errorMessage, host, notBefore, spec
        """

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
        let (batch, job): (String, String) = (row[stored: "name"], row[stored: "identity"])
        let kind: QueueEvent.Kind
        switch JobState(rawValue: row[stored: "state"]) {
        case .failed:
            let status: Int? = row[stored: "status"]
            let error = TransferError(
                TransferError.Code(rawValue: row[stored: "errorCode"] ?? ""), row[stored: "errorMessage"] ?? "",
                cause: status.map { .http(status: $0) })
            var failure = JobFailure(
                batch: batch, job: job, error: error, attempts: row[stored: "attempts"], host: row[stored: "host"],
                finalURL: row[stored: "finalURL"], route: route(row))
            failure.sources = [JobSource](text: row[stored: "sources"])
            if let again: Int64 = row[stored: "notBefore"] {
                failure.again = .milliseconds(max(0, again - (row[stored: "ended"] as Int64? ?? again)))
            }
            kind = .failed(failure)
        case .skipped:
            let message: String = row[stored: "errorMessage"] ?? ""
            kind = .skipped(job: job, need: String(message.dropFirst("needs ".count)))
        case .cancelled: kind = .cancelled(job: job)
        default: kind = .finished(receipt(row, batch: batch, job: job))
        }
        return QueueEvent(
            time: row[stored: "ended"] ?? 0, batch: batch, cursor: row[stored: "endSequence"], kind: kind,
            route: route(row))
    }

    private static func route(_ row: Row) -> JobRoute? {
        (row[stored: "spec"] as String?).flatMap { try? JobSpec(canonicalJSON: $0) }.map { JobRoute($0) }
    }

    private static func receipt(_ row: Row, batch: String, job: String) -> JobReceipt {
        let digest: String? = row[stored: "digest"]
        var receipt = JobReceipt(
            batch: batch, job: job, isUpload: row[stored: "isUpload"], bytes: row[stored: "size"] ?? 0,
            transferred: row[stored: "transferred"] ?? 0, seconds: row[stored: "seconds"] ?? 0,
            digest: digest.flatMap { Checksum($0) }, validator: row[stored: "validator"],
            finalURL: row[stored: "finalURL"] ?? "",
            path: row[stored: "path"] ?? "", status: row[stored: "status"] ?? 0, response: row[stored: "response"],
            attempts: row[stored: "attempts"],
            unproven: row[stored: "unproven"], route: route(row))
        receipt.sums = (row[stored: "sums"] as Data?).flatMap { PieceSumList(encoded: Array($0)) }
        receipt.isLengthUnproven = row[stored: "lengthUnproven"] as Int64? == 1
        receipt.proofs = [JobProof](text: row[stored: "proofs"])
        receipt.sources = [JobSource](text: row[stored: "sources"])
        return receipt
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
