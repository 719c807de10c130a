package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
import TransferWatch

/// Reads the parts of the upload history that rules decide about, and writes what they decided, inside one transaction.
package struct UploadHistoryRows {
    package let db: Database

    package init(_ db: Database) { self.db = db }

    // MARK: Reading

    private static let entryColumns = "SELECT \(HistoryColumn.selection) FROM ledger"

    private static let jobColumns = """
        SELECT job.id, job.ledger, job.identity, job.state, job.batch, job.origin, job.network, job.destination,
            job.fingerprint, job.follows, job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent',
            job.state = \(JobStates.failed) AND job.notBefore IS NOT NULL
                AND coalesce(job.errorCode, '') NOT IN ('checksumMismatch', 'digestUnknown')
        FROM job
        """

    /// Returns the part of the history that offers need.
    package func graph(_ offers: [HistoryOffer], folder: Int64, batch: Int64, plan: WatchPlan) throws
        -> UploadHistoryGraph
    {
        var graph = UploadHistoryGraph()
        let query = UploadHistoryQuery(offers)
        for (inode, size) in query.versions {
            try entries("WHERE folder = ? AND inode = ? AND ledger.size = ?", [folder, inode, size], into: &graph)
        }
        for path in query.paths { try entries("WHERE folder = ? AND path = ?", [folder, path], into: &graph) }
        for id in query.entries { try entries("WHERE id = ?", [id], into: &graph) }
        for url in query.urls(plan, graph) {
            try entries("WHERE folder = ? AND url = ? AND job IS NOT NULL", [folder, url], into: &graph)
        }
        try addJobs(to: &graph)
        try addFollowers(of: batch, to: &graph)
        return graph
    }

    /// Returns all versions that are not confirmed, with their jobs.
    package func unconfirmed(folder: Int64, batch: Int64) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        try entries("WHERE folder = ? AND job IS NOT NULL", [folder], into: &graph)
        try addJobs(to: &graph)
        try addFollowers(of: batch, to: &graph)
        return graph
    }

    private func entries(
        _ condition: String, _ arguments: StatementArguments, into graph: inout UploadHistoryGraph
    ) throws {
        let statement = try db.cachedStatement(sql: "\(Self.entryColumns) \(condition)")
        for row in try Row.fetchAll(statement, arguments: arguments) { graph.load(UploadHistoryEntry(row)) }
    }

    private func jobs(
        _ condition: String, _ arguments: StatementArguments, into graph: inout UploadHistoryGraph
    ) throws {
        let statement = try db.cachedStatement(sql: "\(Self.jobColumns) \(condition)")
        for row in try Row.fetchAll(statement, arguments: arguments) { graph.load(UploadHistoryJob(row)) }
    }

    /// Adds the jobs of all versions that the graph holds.
    package func addJobs(to graph: inout UploadHistoryGraph) throws {
        for entry in graph.entries.values.sorted(by: { $0.id < $1.id }) {
            try jobs("WHERE ledger = ? AND state < \(JobStates.firstEnded)", [entry.id], into: &graph)
            if let job = entry.job { try jobs("WHERE id = ?", [job], into: &graph) }
        }
    }

    /// Adds all jobs of the batch that follow others, the jobs that they follow, and the versions of both.
    package func addFollowers(of batch: Int64, to graph: inout UploadHistoryGraph) throws {
        // The plus keeps SQLite's planner from an index on the batch, by which it would go through all its open jobs.
        let statement = try db.cachedStatement(
            sql: "\(Self.jobColumns) WHERE follows IS NOT NULL AND ledger IS NOT NULL AND +batch = ?")
        for row in try Row.fetchAll(statement, arguments: [batch]) {
            let job = UploadHistoryJob(row)
            graph.load(job)
            try entries("WHERE id = ?", [job.entry], into: &graph)
            guard let followed = job.follows else { continue }
            try jobs("WHERE id = ? AND ledger IS NOT NULL", [followed], into: &graph)
        }
    }

    /// Returns the part of the history that ends and steps of jobs need.
    package func graph(ofJobs ids: [Int64], batches: Set<Int64>, places: [String]) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        for id in ids { try jobs("WHERE id = ? AND ledger IS NOT NULL", [id], into: &graph) }
        var folders = Set<Int64>()
        for job in graph.jobs.values.sorted(by: { $0.id < $1.id }) {
            let statement = try db.cachedStatement(sql: "\(Self.entryColumns) WHERE id = ?")
            guard let row = try Row.fetchOne(statement, arguments: [job.entry]) else { continue }
            graph.load(UploadHistoryEntry(row))
            if let folder = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT folder FROM ledger WHERE id = ?"), arguments: [job.entry])
            {
                folders.insert(folder)
            }
        }
        for folder in folders {
            for place in places {
                try entries("WHERE folder = ? AND url = ? AND isRenamed", [folder, place], into: &graph)
            }
        }
        for batch in batches { try addFollowers(of: batch, to: &graph) }
        return graph
    }

    // MARK: Writing

    /// A job that was removed.
    package struct Removed {
        package let id: Int64
        package let spec: String
        package let upload: String?
        package let hasSecrets: Bool
    }

    package struct Written {
        /// The jobs whose servers are asked to drop the data of their uploads.
        package var removed: [Removed] = []
        package var secrets: [Int64: JobSecrets] = [:]
    }

    /// Writes the changes of a graph.
    ///
    /// - Parameter plan: The rules by which jobs are staged; `nil` if none is staged.
    package func write(_ graph: UploadHistoryGraph, folder: Int64, batch: Int64, plan: WatchPlan?) throws -> Written {
        var written = Written()
        for (id, abandons) in graph.removedJobs {
            let statement = try db.cachedStatement(
                sql: "DELETE FROM job WHERE id = ? RETURNING spec, upload, hasSecrets")
            guard let row = try Row.fetchOne(statement, arguments: [id]), abandons else { continue }
            written.removed.append(
                Removed(id: id, spec: row[stored: 0], upload: row[stored: 1], hasSecrets: row[stored: 2]))
        }
        for id in graph.removedEntries {
            try db.cachedStatement(sql: "DELETE FROM ledger WHERE id = ?").execute(arguments: [id])
        }
        for entry in graph.updatedEntries { try update(entry) }
        var entries: [Int64: Int64] = [:]
        for entry in graph.newEntries { entries[entry.id] = try insert(entry, folder: folder) }
        if let plan { try stage(graph, entries, batch: batch, plan, &written) }
        for (job, change) in graph.updatedJobs {
            guard change != .order, let plan, let entry = graph.entries[job.entry] else {
                try order(job)
                continue
            }
            let spec = plan.job(entry.version, digest: entry.digest, identity: job.identity)
            let rank = plan.rank(entry.version)
            if case .renewed(let keepsUpload) = change {
                try renew(job, spec, rank: rank, keepsUpload: keepsUpload, &written)
            } else {
                try db.execute(
                    sql: JobColumn.update(change.columns),
                    arguments: StatementArguments(
                        change.columns.map { job.value($0, spec, rank: rank).sqlite } + [job.id]))
            }
        }
        return written
    }

    private static let columns = HistoryColumn.written.map(\.sqlite)

    private static let update =
        "UPDATE ledger SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"

    private static let insertion = """
        INSERT INTO ledger (\(columns.joined(separator: ", ")), folder)
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")), ?)
        """

    private func update(_ entry: UploadHistoryEntry) throws {
        try db.cachedStatement(sql: Self.update).execute(arguments: entry.values(with: entry.id))
    }

    private func insert(_ entry: UploadHistoryEntry, folder: Int64) throws -> Int64 {
        var entry = entry
        // The number of the job is known only after the job is stored.
        entry.job = nil
        try db.cachedStatement(sql: Self.insertion).execute(arguments: entry.values(with: folder))
        return db.lastInsertedRowID
    }

    private func order(_ job: UploadHistoryJob) throws {
        guard let follows = job.follows else {
            return try db.cachedStatement(sql: "UPDATE job SET \(WatchedJobs.release) WHERE id = ?")
                .execute(arguments: [job.id])
        }
        try db.cachedStatement(sql: JobColumn.update([.follows])).execute(arguments: [follows, job.id])
    }

    // MARK: Staging

    private static let staging = """
        INSERT INTO job (\(UploadHistoryJob.stagedColumns.map(\.sqlite).joined(separator: ", ")), batch, ledger)
        VALUES (\(UploadHistoryJob.stagedColumns.map { _ in "?" }.joined(separator: ", ")), ?, ?)
        """

    private func stage(
        _ graph: UploadHistoryGraph, _ entries: [Int64: Int64], batch: Int64, _ plan: WatchPlan,
        _ written: inout Written
    ) throws {
        var stored: [Int64: Int64] = [:]
        for job in graph.newJobs {
            guard let entry = graph.entries[job.entry] else { continue }
            let history = entries[job.entry] ?? job.entry
            let spec = plan.job(
                entry.version, digest: entry.digest, identity: try freeIdentity(entry.version.path, history, batch))
            var job = job
            job.follows = job.follows.map { stored[$0] ?? $0 }
            let (staged, rank) = (job, plan.rank(entry.version))
            let values = UploadHistoryJob.stagedColumns.map { staged.value($0, spec, rank: rank).sqlite }
            let statement = try db.cachedStatement(sql: Self.staging)
            statement.setUncheckedArguments(StatementArguments(values + [batch, history]))
            try statement.execute()
            let id = db.lastInsertedRowID
            stored[job.id] = id
            if entry.job == job.id {
                try db.cachedStatement(sql: "UPDATE ledger SET job = ? WHERE id = ?").execute(arguments: [id, history])
            }
            written.secrets[id] = JobSecrets(spec)
        }
    }

    private func freeIdentity(_ path: String, _ history: Int64, _ batch: Int64) throws -> String {
        var identity = WatchedPath.identity(path, history: history)
        var number = 1
        let known = try db.cachedStatement(sql: "SELECT 1 FROM job WHERE batch = ? AND identity = ?")
        while try Bool.fetchOne(known, arguments: [batch, identity]) != nil {
            number += 1
            identity = WatchedPath.identity(path, history: history, number: number)
        }
        return identity
    }

    private func renew(
        _ job: UploadHistoryJob, _ spec: JobSpec, rank: Int, keepsUpload: Bool, _ written: inout Written
    ) throws {
        if !keepsUpload,
            let row = try Row.fetchOne(
                db, sql: "SELECT spec, upload, hasSecrets FROM job WHERE id = ?", arguments: [job.id])
        {
            written.removed.append(
                Removed(id: job.id, spec: row[stored: 0], upload: row[stored: 1], hasSecrets: row[stored: 2]))
        }
        let update = keepsUpload ? Self.renewalOfSame : Self.renewal
        try db.execute(
            sql: update.sql,
            arguments: update.arguments(state: job.state, [job.id]) { job.value($0, spec, rank: rank) })
    }

    private static let renewal = JobUpdate(.renew) { "id = ?\($0)" }
    private static let renewalOfSame = JobUpdate(.renewSame) { "id = ?\($0)" }
}

extension UploadHistoryEntry {
    /// Returns the values of all columns except the number and the folder, in the order in which they are written.
    fileprivate func values(with last: Int64) -> StatementArguments {
        StatementArguments(HistoryColumn.written.map { value($0).sqlite } + [last])
    }
}

extension UploadHistoryJob {
    fileprivate init(_ row: Row) {
        self.init(
            id: row[stored: 0], entry: row[stored: 1], identity: row[stored: 2],
            state: JobState(stored: row[stored: 3]),
            lane: Lane(batch: row[stored: 4], origin: row[stored: 5], network: row[stored: 6]),
            destination: row[stored: 7], fingerprint: row[stored: 8], follows: row[stored: 9],
            mayHaveArrived: row[stored: 10] ?? false, keepsTime: row[stored: 11] ?? false)
    }
}
