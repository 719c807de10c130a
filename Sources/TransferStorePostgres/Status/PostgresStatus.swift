import TransferCore
package import TransferJobs
import TransferStore

/// The state of batches and of the workers on them, for processes that read the queue.
package struct PostgresStatus: Sendable {
    package let database: PostgresDatabase

    /// The condition of processes whose leases hold.
    package static let alive = "process.until > \(PostgresClock.now)"

    package func statuses(name: String?) throws -> [BatchStatus] {
        try database.read { db in
            let rows = try db.run(Self.batchRows, [name])
            var statuses: [Int64: BatchStatus] = [:]
            for row in rows {
                var status = BatchStatus(
                    name: row.text(1) ?? "", source: row.text(2), directory: row.text(3) ?? "")
                status.pid = row.int(4).map { Int32($0) }
                statuses[row.number(0) ?? 0] = status
            }
            let batches = PostgresArray(Array(statuses.keys))
            let counts = try db.post(Self.batchCounts, [batches])
            let runs = try db.post(Self.runs, [batches])
            let hosts = try db.post(Self.hosts, [batches])
            for (batch, lack) in try PostgresTags.lacks(db, of: batches) { statuses[batch]?.lacks.append(lack) }
            for row in try counts.rows() {
                let (batch, state) = (row.number(0) ?? 0, JobState(stored: row.int(1) ?? 0))
                statuses[batch]?.add(state, row.int(2) ?? 0)
                if state == .waiting { statuses[batch]?.nextAttempt = row.number(3) }
            }
            for (batch, folder) in try PostgresFolderStatus.statuses(db, of: batches) {
                statuses[batch]?.folder = folder
            }
            Self.add(runs: try runs.rows(), to: &statuses)
            Self.add(hosts: try hosts.rows(), to: &statuses)
            return rows.compactMap { statuses[$0.number(0) ?? 0] }
        }
    }

    /// Adds the runs. The rate of a batch is the sum of its workers' rates, and it waits for the network where all its
    /// workers do.
    private static func add(runs: PostgresResult, to statuses: inout [Int64: BatchStatus]) {
        for row in runs {
            let batch = row.number(0) ?? 0
            statuses[batch]?.pid = row.int(1).map { Int32($0) }
            statuses[batch]?.rate = row.number(2) ?? 0
            statuses[batch]?.eta = row.number(3).map { .seconds($0) }
            statuses[batch]?.active = row.int(6) ?? 0
            if row.flag(5) { statuses[batch]?.waitingFor = row.text(4) }
        }
    }

    private static func add(hosts: PostgresResult, to statuses: inout [Int64: BatchStatus]) {
        for row in hosts {
            let wait = HostWait(
                origin: row.text(1) ?? "", status: row.int(2), message: row.text(3) ?? "", since: row.number(4) ?? 0,
                remaining: .milliseconds(max(0, row.number(5) ?? 0)), jobs: row.int(6) ?? 0)
            statuses[row.number(0) ?? 0]?.hosts.append(wait)
            statuses[row.number(0) ?? 0]?.waiting += row.int(7) ?? 0
        }
    }

    /// Returns whether another live process holds the batch, or works on it.
    package func isHeldElsewhere(batch name: String) throws -> Bool {
        try database.read { db in
            try db.run(Self.holding, [name, database.process]).first?.flag(0) ?? false
        }
    }

    /// Returns the workers, whether or not they have jobs. A worker that is gone stays in the list until another
    /// process has taken over its claims.
    package func workers() throws -> [WorkerStatus] {
        try database.read { db in
            try db.run(Self.workerRows).map { row in
                var worker = WorkerStatus(
                    host: row.text(0) ?? "", pid: Int32(row.int(1) ?? 0), began: row.number(2) ?? 0,
                    lease: .milliseconds(row.number(3) ?? 0), claimed: row.int(4) ?? 0, active: row.int(5) ?? 0,
                    rate: row.number(6) ?? 0)
                worker.tags = WorkerTags(text: row.text(7) ?? "") ?? .none
                return worker
            }
        }
    }

    /// Counts the jobs that a worker could start, by the tags that they ask for.
    ///
    /// - Returns: The tags, the jobs, and when the oldest of them came into the queue, in milliseconds since 1970.
    package func readyJobs() throws -> [(tags: String, jobs: Int, oldest: Int64)] {
        try database.read { db in
            try db.run(Self.ready).map { ($0.text(0) ?? "", $0.int(1) ?? 0, $0.number(2) ?? 0) }
        }
    }

    // MARK: Statements

    private static let ready = PostgresStatement(
        "ready_jobs", .all,
        "SELECT tags, count(*), min(made) FROM job WHERE state = \(JobStates.queued) GROUP BY tags ORDER BY tags")

    private static let batchRows = PostgresStatement(
        "batch_rows", .all,
        """
        SELECT batch.id, name, source, directory, process.pid FROM batch
        LEFT JOIN process ON process.generation = batch.owner AND \(alive)
        WHERE $1::text IS NULL OR name = $1 ORDER BY batch.id
        """)

    private static let batchCounts = PostgresStatement(
        "batch_counts", .all,
        """
        SELECT batch, state, count(*), min(not_before) FROM job WHERE batch = ANY ($1::bigint[]) GROUP BY batch, state
        """)

    private static let runs = PostgresStatement(
        "runs_of_batches", .all,
        """
        SELECT batch, min(pid), sum(rate)::bigint, (1 / sum(1.0 / greatest(eta, 1)))::bigint, max(waiting_for),
            bool_and(waiting_for IS NOT NULL), sum(active)
        FROM run JOIN process ON generation = process
        WHERE batch = ANY ($1::bigint[]) AND \(alive) GROUP BY batch
        """)

    private static let hosts = PostgresStatement(
        "hosts_of_batches", .all,
        """
        SELECT job.batch, coalesce(wait.proxy, wait.origin), wait.status, wait.message, wait.since,
            wait.until - \(PostgresClock.now), count(*),
            count(*) FILTER (WHERE state IN (\(JobStates.list([.queued, .claimed]))))
        FROM (SELECT DISTINCT ON (origin) host_wait.* FROM host_wait JOIN process ON generation = process
            WHERE \(alive) ORDER BY origin, host_wait.until) AS wait
        JOIN job ON job.origin = wait.origin AND job.batch = ANY ($1::bigint[])
            AND state IN (\(JobStates.list([.queued, .claimed, .waiting])))
        GROUP BY job.batch, wait.origin, wait.proxy, wait.status, wait.message, wait.since, wait.until
        ORDER BY count(*) DESC, wait.origin
        """)

    private static let holding = PostgresStatement(
        "is_held_elsewhere", .all,
        """
        SELECT EXISTS (SELECT 1 FROM batch JOIN process ON generation = batch.owner
                OR generation IN (SELECT process FROM run WHERE run.batch = batch.id)
            WHERE name = $1 AND generation <> $2 AND \(alive))
        """)

    private static let workerRows = PostgresStatement(
        "worker_rows", .all,
        """
        SELECT host, pid, began, until - \(PostgresClock.now),
            (SELECT count(*) FROM job WHERE job.owner = generation),
            coalesce(sum(active), 0), coalesce(sum(rate), 0)::bigint, tags
        FROM process LEFT JOIN run ON run.process = generation WHERE is_worker
        GROUP BY generation ORDER BY generation
        """)

    package static let statements = [
        batchRows, batchCounts, runs, hosts, holding, workerRows, ready,
    ]
}
