package import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
import TransferStore

/// A writer of ends into the rows of their jobs. A job of a packed batch that is complete gets its row with its end.
package struct EndWriter {
    /// A complete job that gets its row.
    private struct Complete {
        let job: StagedJob
        /// The index of the job's end among those that are written.
        let index: Int
        let cursor: Int64
    }

    /// The jobs belong to this process, because the transaction is fenced.
    private static let updates = Dictionary(
        uniqueKeysWithValues: [JobTransition.fail, .failOfChangedSource, .abort].map { transition in
            (transition, JobUpdate(transition, guards: false, endNumber: .given) { "id = ?\($0)" })
        })
    private static let completion = JobUpdate(.complete, guards: false, endNumber: .given) { "id = ?\($0)" }
    private static let keeping = JobUpdate(.keep, guards: false, endNumber: .given) { "id = ?\($0)" }

    private static func bind(
        _ update: JobUpdate, _ receipt: JobReceipt, _ facts: FileStamp?, cursor: Int64, now: Int64,
        to values: inout BoundStatement.Values
    ) {
        update.bind(to: &values, now: now) { $0 == .endNumber ? .number(cursor) : receipt.value($0, facts) }
    }

    private let db: Database
    private let ends: [JobEnd]
    private let now: Int64
    private let packed: PackedJobs
    /// The batches that are still packed: only complete jobs of theirs are written.
    private var packs: Set<Int64> = []
    private var insert: GroupedInsert<Complete>?
    private let complete: BoundStatement
    private let keep: BoundStatement

    /// Prepares the writer, and unpacks batches for which more than complete jobs is to be written.
    package init(
        _ db: Database, packed: PackedJobs, now: Int64, _ ends: [JobEnd], _ steps: [JobStep]
    ) throws {
        self.db = db
        self.ends = ends
        self.now = now
        self.packed = packed
        complete = BoundStatement(try db.cachedStatement(sql: Self.completion.sql))
        keep = BoundStatement(try db.cachedStatement(sql: Self.keeping.sql))
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
            try (end.wasKept ? keep : complete).run {
                Self.bind(
                    end.wasKept ? Self.keeping : Self.completion, receipt, facts, cursor: cursor, now: now, to: &$0)
                $0.add(end.id)
            }
        case .failed, .cancelled:
            guard let update = end.transition.flatMap({ Self.updates[$0] }) else { return }
            try db.execute(
                sql: update.sql,
                arguments: update.arguments([end.id]) { try $0 == .endNumber ? .number(cursor) : end.value($0) })
        // The upload history removes a dropped job.
        case .dropped: break
        }
    }

    private mutating func add(_ job: Complete) throws {
        if insert == nil {
            // A row that is there already is an error, which rolls the whole transaction back.
            insert = try GroupedInsert(
                db,
                "INSERT OR FAIL INTO job (id, \(JobRow.columns), \(Self.completion.columns.joined(separator: ", ")))",
                columns: 1 + JobRow.columnCount + Self.completion.columns.count
            ) { [ends, now] complete, values in
                let end = ends[complete.index]
                values.add(end.id)
                complete.job.row.bind(
                    batch: end.batch, generation: JobPack.generation, state: .done, to: &values)
                guard let (receipt, facts) = end.completion else { return }
                Self.bind(Self.completion, receipt, facts, cursor: complete.cursor, now: now, to: &values)
            }
        }
        try insert?.add(job)
    }

    /// Writes the rows that are still gathered, after the last end.
    package mutating func finish() throws { try insert?.finish() }
}
