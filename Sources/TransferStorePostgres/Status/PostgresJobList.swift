import FoundationEssentials
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// Lists of jobs, page by page: no transaction stays open while somebody reads a list.
package struct PostgresJobList: Sendable {
    package let database: PostgresDatabase

    /// The columns that ``entry(_:)`` reads.
    private static let columns = """
        job.id, identity, state, spec, size, resume, upload, path, attempts, error_code, error_message, status, final_url,
        ended, claimed, name, directory, is_upload, priority, origin, host, end_number,
        EXISTS (SELECT 1 FROM run WHERE run.batch = job.batch AND job.id = ANY (under_way))
        """

    package func page(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob] {
        var selection = JobSelection()
        selection.batch = name
        selection.states = failed ? [.failed] : []
        selection.order = .number(after: number)
        selection.limit = limit
        return try page(selection).map(\.listed)
    }

    package func page(_ selection: JobSelection) throws -> [JobEntry] {
        let conditions = Conditions(selection)
        let (order, skipped) =
            switch selection.order {
            case .number: ("job.id", 0)
            case .latestEnd: ("end_number DESC", 0)
            case .ends(_, let count): ("end_number", count)
            case .turn(let count): ("priority DESC, job.id", count)
            }
        return try database.read { db in
            try db.run(
                """
                SELECT \(Self.columns) FROM job JOIN batch ON batch.id = job.batch WHERE \(conditions.sql)
                ORDER BY \(order) LIMIT \(selection.limit) OFFSET \(skipped)
                """, conditions.values
            ).map(Self.entry)
        }
    }

    package func count(_ selection: JobSelection) throws -> Int {
        let conditions = Conditions(selection)
        return try database.read { db in
            try db.run(
                "SELECT count(*) FROM job JOIN batch ON batch.id = job.batch WHERE \(conditions.sql)", conditions.values
            ).first?.int(0) ?? 0
        }
    }

    package func numbers() throws -> ClosedRange<Int64>? {
        try database.read { db in
            let row = try db.run("SELECT min(id), max(id) FROM job").first
            guard let first = row?.number(0), let last = row?.number(1) else { return nil }
            return first...last
        }
    }

    // MARK: Conditions

    /// A selection as a statement has it.
    private struct Conditions {
        private var parts: [String] = []
        private(set) var values: [(any PostgresValue)?] = []

        var sql: String { parts.isEmpty ? "true" : parts.joined(separator: " AND ") }

        /// - Parameter condition: `?` stands for the value.
        private mutating func add(_ condition: String, _ value: any PostgresValue) {
            values.append(value)
            parts.append(condition.replacing("?", with: "$\(values.count)"))
        }

        init(_ selection: JobSelection) {
            switch selection.order {
            case .number(let last): if last > 0 { add("job.id > ?", last) }
            case .latestEnd(let cursor?): add("end_number < ?", cursor)
            case .latestEnd(nil): parts.append("end_number IS NOT NULL")
            case .ends(let cursor, _): add("end_number > ?", cursor)
            case .turn: break
            }
            if let numbers = selection.numbers { add("job.id = ANY (?::bigint[])", PostgresArray(numbers)) }
            if !selection.hidden.isEmpty { add("job.id <> ALL (?::bigint[])", PostgresArray(selection.hidden)) }
            if let batch = selection.batch { add("name = ?", batch) }
            if !selection.states.isEmpty { parts.append("state IN (\(JobStates.list(Array(selection.states))))") }
            if let isUpload = selection.isUpload { add("is_upload = ?", isUpload) }
            if let origin = selection.origin { add("origin = ?", origin) }
            if let identity = selection.identity {
                add("key = md5(?)::uuid", identity)
                add("identity = ?", identity)
            }
            if let prefix = selection.identityPrefix { add("starts_with(identity, ?)", prefix) }
            if let code = selection.code { add("error_code = ?", code) }
            if let text = selection.text { add("(strpos(identity, ?) > 0 OR strpos(name, ?) > 0)", text) }
        }
    }

    // MARK: Rows

    private static func entry(_ row: PostgresRow) -> JobEntry {
        JobEntry(
            batch: row.text(15) ?? "", directory: row.text(16) ?? "", listed: job(row), isUpload: row.flag(17),
            priority: row.int(18) ?? 0, origin: row.text(19) ?? "", host: row.text(20), cursor: row.number(21),
            isUnderWay: row.flag(22))
    }

    private static func job(_ row: PostgresRow) -> ListedJob {
        let state = JobState(stored: row.int(2) ?? 0)
        var job = ListedJob(
            number: row.number(0) ?? 0, job: row.text(1) ?? "", state: state,
            route: JobRoute(canonicalJSON: row.text(3) ?? ""))
        job.bytes = state == .done ? row.number(4) : held(row)
        if state == .done { job.path = row.text(7) }
        job.attempts = row.int(8) ?? 0
        if [.failed, .skipped, .waiting].contains(state) { (job.code, job.message) = (row.text(9), row.text(10)) }
        if [.done, .cancelled, .failed].contains(state) { job.finalURL = row.text(12) }
        if state == .done || state == .failed { job.status = row.int(11).flatMap { $0 > 0 ? $0 : nil } }
        job.since = state.hasEnded ? row.number(13) : state == .claimed ? row.number(14) : nil
        return job
    }

    /// The bytes that survive the end of the worker that has them.
    private static func held(_ row: PostgresRow) -> Int64? {
        if let record = row.text(6).flatMap({ UploadRecord(text: $0) }) { return record.confirmed }
        return row.text(5).flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) }?.written.count
    }
}
