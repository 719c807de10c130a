package import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
import TransferStore

/// Writes ends into the rows of their jobs. Of a batch that is packed, what is complete gets its row with its end.
package struct EndWriter {
    /// A job that gets its row.
    private struct Complete {
        let job: StagedJob
        /// The index of the job's end among those that are written.
        let index: Int
        let cursor: Int64
    }

    /// The columns of a job that is complete.
    private static let columns = [
        "path", "size", "modified", "digest", "validator", "transferred", "seconds", "finalURL", "status", "response",
        "attempts", "unproven", "lengthUnproven", "proofs", "endSequence", "ended",
    ]

    /// Gives the values of ``columns``.
    private static func bind(
        _ receipt: JobReceipt, _ facts: FileStamp?, cursor: Int64, now: Int64, to values: inout BoundStatement.Values
    ) {
        values.add(receipt.path)
        values.add(facts?.size ?? receipt.bytes)
        values.add(facts?.modified)
        values.add(receipt.digest?.description)
        values.add(receipt.validator)
        values.add(receipt.transferred)
        values.add(receipt.seconds)
        values.add(receipt.finalURL)
        values.add(receipt.status)
        values.add(receipt.response)
        values.add(receipt.attempts)
        values.add(receipt.unproven)
        values.add(receipt.isLengthUnproven ? Int64(1) : nil)
        values.add(receipt.proofs.text)
        values.add(cursor)
        values.add(now)
    }

    private let db: Database
    private let ends: [JobEnd]
    private let now: Int64
    private let packed: PackedJobs
    /// The batches that are packed: of them there is nothing to write but jobs that are complete.
    private var packs: Set<Int64> = []
    private var insert: GroupedInsert<Complete>?
    private let update: BoundStatement

    /// Gives batches of which there is more to write than that jobs are complete all their rows.
    package init(
        _ db: Database, packed: PackedJobs, now: Int64, _ ends: [JobEnd], _ steps: [JobStep]
    ) throws {
        self.db = db
        self.ends = ends
        self.now = now
        self.packed = packed
        // The sums and the sources of a file that was kept as it was are those of its download.
        let columns =
            Self.columns.map { "\($0) = ?" }.joined(separator: ", ")
            + ", sums = ifnull(?, CASE WHEN size IS ? AND modified IS ? THEN sums END)"
            + ", sources = CASE WHEN ? THEN sources ELSE ? END"
        update = BoundStatement(
            try db.cachedStatement(
                sql: """
                    UPDATE job SET state = \(JobStates.done), owner = NULL, isSending = 0, wasInterrupted = 0, mustRefresh = 0,
                        resume = NULL, upload = NULL, errorCode = NULL, errorMessage = NULL, \(columns) WHERE id = ?
                    """))
        guard try Packs.exist(db) else {
            packed.forgetAll()
            return
        }
        let others = ends.lazy.filter { $0.completion == nil }.map(\.batch)
        packs = try Set(Int64.fetchAll(db, sql: "SELECT batch FROM pack"))
        for batch in Set(others).union(steps.map(\.batch)) { try unpack(batch) }
    }

    private mutating func unpack(_ batch: Int64) throws {
        guard packs.remove(batch) != nil else { return }
        try Packs.unpack(db, batch: batch)
        packed.forget(batch)
    }

    package mutating func write(_ index: Int, cursor: Int64) throws {
        let end = ends[index]
        switch end.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            if packs.contains(end.batch) {
                if let job = packed.take(end.id, of: end.batch) {
                    return try add(Complete(job: job, index: index, cursor: cursor))
                }
                try insert?.finish()
                try unpack(end.batch)
            }
            try update.run {
                Self.bind(receipt, facts, cursor: cursor, now: now, to: &$0)
                $0.add(blob: receipt.sums?.encoded)
                $0.add(facts?.size ?? receipt.bytes)
                $0.add(facts?.modified)
                $0.add(end.wasKept ? Int64(1) : 0)
                $0.add(receipt.sources.text)
                $0.add(end.id)
            }
        case .failed(let error, let attempts, let host):
            let again = end.again.map { StoredWait(until: .now + $0) }
            try db.execute(
                sql: """
                    UPDATE job SET state = \(JobStates.failed), owner = NULL, isSending = 0, wasInterrupted = 0, errorCode = ?,
                        errorMessage = ?, status = ?, host = ?, attempts = ?, finalURL = ?, endSequence = ?, ended = ?, notBefore = ?,
                        due = ?, delay = ?, resume = ?, sources = ?,
                        upload = CASE WHEN ? OR canGoOn(upload) THEN upload END WHERE id = ?
                    """,
                arguments: [
                    error.code.rawValue, error.message, error.status, host, attempts, end.finalURL, cursor, now,
                    end.again.map { now + $0.inMilliseconds }, again?.boot, again?.length,
                    try ResumeData.text(end.resume), end.sources.text, error.code == .sourceChanged, end.id,
                ])
        case .cancelled:
            try db.execute(
                sql: """
                    UPDATE job SET state = \(JobStates.cancelled), owner = NULL, isSending = 0, endSequence = ?, ended = ?,
                        resume = ifnull(?, resume),
                        upload = CASE WHEN canGoOn(upload) THEN upload END WHERE id = ?
                    """, arguments: [cursor, now, try ResumeData.text(end.resume), end.id])
        // The ledger's part takes it out.
        case .dropped: break
        }
    }

    private mutating func add(_ job: Complete) throws {
        if insert == nil {
            // A row that is there already is a fault; what was inserted before it is rolled back with all else.
            insert = try GroupedInsert(
                db,
                "INSERT OR FAIL INTO job (id, \(JobRow.columns), \(Self.columns.joined(separator: ", ")), sums, sources)",
                columns: 3 + JobRow.columnCount + Self.columns.count
            ) { [ends, now] complete, values in
                let end = ends[complete.index]
                values.add(end.id)
                complete.job.row.bind(
                    batch: end.batch, generation: JobPack.generation, state: .done, to: &values)
                guard let (receipt, facts) = end.completion else { return }
                Self.bind(receipt, facts, cursor: complete.cursor, now: now, to: &values)
                values.add(blob: receipt.sums?.encoded)
                values.add(receipt.sources.text)
            }
        }
        try insert?.add(job)
    }

    /// Writes the rows that are still gathered, after the last end.
    package mutating func finish() throws { try insert?.finish() }
}
