import GRDB
import TransferCore
import TransferJobs
package import TransferStore

/// Pages of jobs of all batches. A page begins behind the last job of the page before, and not at a count, so that each
/// costs the same.
package struct JobPageQuery: Sendable {
    package let database: QueueDatabase

    package func page(_ selection: JobSelection) throws -> [JobEntry] {
        let (conditions, arguments) = Self.conditions(selection)
        let sql = """
            SELECT job.id, identity, \(ReserveRows.shownState) AS state, spec, size, resume, upload, path, attempts,
                errorCode, errorMessage, status, finalURL, ended, claimed, notBefore, due, delay,
                batch.name AS batchName, directory, isUpload, priority, origin, host, endSequence,
                instr(underWay, ' ' || job.id || ' ') > 0 AS isUnderWay, job.fingerprint
            FROM job JOIN batch ON batch.id = job.batch
            WHERE \(conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
            ORDER BY \(Self.order(selection)) LIMIT ? OFFSET ?
            """
        let skipped =
            switch selection.order {
            case .turn(let count), .ends(_, let count): count
            case .number, .latestEnd: 0
            }
        return try database.read { db in
            try Row.fetchAll(
                db, sql: sql, arguments: StatementArguments(arguments + [selection.limit, skipped])
            ).map(Self.entry)
        }
    }

    /// Counts the jobs that match the selection, of all batches.
    package func count(_ selection: JobSelection) throws -> Int {
        let (conditions, arguments) = Self.conditions(selection)
        return try database.read { db in
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM job JOIN batch ON batch.id = job.batch
                    WHERE \(conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
                    """, arguments: StatementArguments(arguments)) ?? 0
        }
    }

    /// Returns the least and the greatest number that a job has; `nil` where there is none.
    package func numbers() throws -> ClosedRange<Int64>? {
        try database.read { db in
            let row = try Row.fetchOne(db, sql: "SELECT min(id), max(id) FROM job")
            guard let first: Int64 = row?[stored: 0], let last: Int64 = row?[stored: 1] else { return nil }
            return first...last
        }
    }

    private static func conditions(_ selection: JobSelection) -> ([String], [any DatabaseValueConvertible]) {
        var conditions: [String] = []
        var arguments: [any DatabaseValueConvertible] = []
        func add(_ condition: String, _ values: any DatabaseValueConvertible...) {
            conditions.append(condition)
            arguments += values
        }
        if let numbers = selection.numbers {
            conditions.append("job.id IN (\(numbers.map(String.init).joined(separator: ", ")))")
        }
        switch selection.order {
        case .number(let last): if last > 0 { add("job.id > ?", last) }
        case .latestEnd(let cursor):
            if let cursor { add("endSequence < ?", cursor) } else { add("endSequence NOT NULL") }
        case .turn: break
        case .ends(let cursor, _): add("endSequence > ?", cursor)
        }
        if let batch = selection.batch { add("job.batch = (SELECT id FROM batch WHERE name = ?)", batch) }
        if !selection.states.isEmpty {
            let states = JobStates.list(Array(selection.states))
            // A job of a reserve that was claimed ahead of its turn is shown as ready.
            let isReported = selection.states.contains(.queued) != selection.states.contains(.claimed)
            let stored = Set(selection.states).union(isReported ? [.claimed] : [])
            conditions.append("job.state IN (\(JobStates.list(Array(stored))))")
            if isReported { conditions.append("\(ReserveRows.shownState) IN (\(states))") }
        }
        if let isUpload = selection.isUpload { add("isUpload = ?", isUpload) }
        if let origin = selection.origin { add("origin = ?", origin) }
        if !selection.hidden.isEmpty {
            conditions.append("job.id NOT IN (\(selection.hidden.map(String.init).joined(separator: ", ")))")
        }
        if let identity = selection.identity { add("identity = ?", identity) }
        if let prefix = selection.identityPrefix {
            add("substr(identity, 1, ?) = ?", prefix.unicodeScalars.count, prefix)
        }
        if let code = selection.code { add("errorCode = ?", code) }
        if let text = selection.text { add("(instr(identity, ?) > 0 OR instr(batch.name, ?) > 0)", text, text) }
        return (conditions, arguments)
    }

    private static func order(_ selection: JobSelection) -> String {
        switch selection.order {
        case .number: "job.id"
        case .latestEnd: "endSequence DESC"
        case .ends: "endSequence"
        case .turn: "priority DESC, job.id"
        }
    }

    private static func entry(_ row: Row) -> JobEntry {
        JobEntry(
            batch: row[stored: "batchName"], directory: row[stored: "directory"], listed: JobListQuery.job(row),
            isUpload: row[stored: "isUpload"], priority: row[stored: "priority"], origin: row[stored: "origin"],
            host: row[stored: "host"],
            cursor: row[stored: "endSequence"], isUnderWay: row[stored: "isUnderWay"],
            fingerprint: row[stored: "fingerprint"])
    }
}
