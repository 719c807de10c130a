import FoundationEssentials
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// Lists of jobs, page by page, so that no transaction stays open while a client reads a list.
package struct PostgresJobList: Sendable {
    package let database: PostgresDatabase

    /// The columns that ``entry(_:)`` reads.
    private static let columns = """
        job.id, identity, state, spec, size, resume, upload, path, attempts, error_code, error_message, status, final_url,
        ended, claimed, name, directory, is_upload, priority, origin, host, end_number,
        EXISTS (SELECT 1 FROM run WHERE run.batch = job.batch AND job.id = ANY (under_way)),
        CASE WHEN job.state = \(JobStates.claimed) THEN (
            SELECT coalesce(max(run.told[slot + 1]), -1) FROM run
                CROSS JOIN generate_series(1, cardinality(run.told), \(RunProgress.Row.width)) AS slot
            WHERE run.process = job.owner AND run.batch = job.batch AND run.told[slot] = job.id) END,
        job.fingerprint
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
        let skipped =
            switch selection.order {
            case .number, .latestEnd: 0
            case .ends(_, let count), .turn(let count): count
            }
        return try database.read { db in
            try db.run(Self.statements(of: selection.order).page, Self.values(selection) + [selection.limit, skipped])
                .map(Self.entry)
        }
    }

    package func count(_ selection: JobSelection) throws -> Int {
        try database.read { db in
            try db.run(Self.statements(of: selection.order).count, Self.values(selection)).first?.int(0) ?? 0
        }
    }

    package func numbers() throws -> ClosedRange<Int64>? {
        try database.read { db in
            let row = try db.run(Self.range).first
            guard let first = row?.number(0), let last = row?.number(1) else { return nil }
            return first...last
        }
    }

    // MARK: Conditions

    /// A selection is a list of conditions on values, of which the unset ones are left out. Each page is planned by the
    /// values that it has.
    private static let conditions = """
        ($2::bigint[] IS NULL OR job.id = ANY ($2)) AND ($3::bigint[] IS NULL OR job.id <> ALL ($3))
            AND ($4::text IS NULL OR name = $4) AND ($5::integer[] IS NULL OR state = ANY ($5))
            AND ($6::boolean IS NULL OR is_upload = $6) AND ($7::text IS NULL OR origin = $7)
            AND ($8::text IS NULL OR key = md5($8)::uuid AND identity = $8)
            AND ($9::text IS NULL OR starts_with(identity, $9)) AND ($10::text IS NULL OR error_code = $10)
            AND ($11::text IS NULL OR strpos(identity, $11) > 0 OR strpos(name, $11) > 0)
        """

    /// Returns the values of the conditions; the first is the cursor of the order.
    private static func values(_ selection: JobSelection) -> [(any PostgresValue)?] {
        let cursor: Int64? =
            switch selection.order {
            case .number(let last): last
            case .latestEnd(let cursor): cursor
            case .ends(let cursor, _): cursor
            case .turn: nil
            }
        let states = selection.states.map(\.rawValue).sorted()
        return [
            cursor, selection.numbers.map { PostgresArray($0) },
            selection.hidden.isEmpty ? nil : PostgresArray(selection.hidden), selection.batch,
            states.isEmpty ? nil : PostgresArray(states), selection.isUpload, selection.origin, selection.identity,
            selection.identityPrefix, selection.code, selection.text,
        ]
    }

    private static func statements(of order: JobSelection.Order) -> Ordered {
        switch order {
        case .number: byNumber
        case .latestEnd: byLatestEnd
        case .ends: byEnd
        case .turn: byTurn
        }
    }

    /// The statements for the page and the count of one order.
    private struct Ordered {
        let page: PostgresStatement
        let count: PostgresStatement

        init(_ name: String, by order: String, where cursor: String) {
            let jobs = "FROM job JOIN batch ON batch.id = job.batch WHERE \(cursor) AND \(conditions)"
            page = PostgresStatement(
                "jobs_by_\(name)", .all, "SELECT \(columns) \(jobs) ORDER BY \(order) LIMIT $12 OFFSET $13",
                isPlannedAnew: true)
            count = PostgresStatement("count_by_\(name)", .all, "SELECT count(*) \(jobs)", isPlannedAnew: true)
        }
    }

    // MARK: Rows

    private static func entry(_ row: PostgresRow) -> JobEntry {
        JobEntry(
            batch: row.text(15) ?? "", directory: row.text(16) ?? "", listed: job(row), isUpload: row.flag(17),
            priority: row.int(18) ?? 0, origin: row.text(19) ?? "", host: row.text(20), cursor: row.number(21),
            isUnderWay: row.flag(22), fingerprint: row.number(24) ?? 0)
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
        if row.flag(22) { job.attempts += 1 }
        if let bytes = row.number(23), bytes >= 0 { job.bytes = max(bytes, job.bytes ?? 0) }
        job.since = state.hasEnded ? row.number(13) : state == .claimed ? row.number(14) : nil
        return job
    }

    /// Returns the number of bytes that survive the end of the worker that has them.
    private static func held(_ row: PostgresRow) -> Int64? {
        if let record = row.text(6).flatMap({ UploadRecord(text: $0) }) { return record.confirmed }
        return row.text(5).flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) }?.written.count
    }

    // MARK: Statements

    private static let byNumber = Ordered("number", by: "job.id", where: "($1::bigint IS NULL OR job.id > $1)")

    private static let byLatestEnd = Ordered(
        "latest_end", by: "end_number DESC",
        where: "end_number IS NOT NULL AND ($1::bigint IS NULL OR end_number < $1)")

    private static let byEnd = Ordered("end", by: "end_number", where: "end_number > $1")

    private static let byTurn = Ordered("turn", by: "priority DESC, job.id", where: "$1::bigint IS NULL")

    private static let range = PostgresStatement("job_numbers", .all, "SELECT min(id), max(id) FROM job")

    package static let statements =
        [byNumber, byLatestEnd, byEnd, byTurn].flatMap { [$0.page, $0.count] } + [range]
}
