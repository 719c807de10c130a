import Synchronization
import TransferCore
import TransferEventLoop
package import TransferJobs
import TransferStore

/// The transfers under way of all workers, for clients that watch them. Workers report single jobs only while a client
/// announces that it watches, so that no report is written in vain.
package final class PostgresUnderWay: Sendable {
    private let database: PostgresDatabase
    private let announced = Mutex<MonotonicTime?>(nil)

    /// The time between two announcements of a watching client.
    private static let interval = Duration.seconds(5)

    package init(database: PostgresDatabase) { self.database = database }

    /// Reads the transfers, the largest first.
    package func jobs(limit: Int) throws -> [JobUnderWay] {
        try database.read { db in
            try announce(db)
            let rows = try db.run(Self.jobs, [limit])
            let names = Self.names(rows)
            return rows.map { row in
                let kind = RunProgress.Row.Kind(code: row.number(7) ?? 0)
                let total = row.number(5) ?? 0
                var progress = JobProgress(
                    completed: row.number(4) ?? 0, total: total < 0 ? nil : total, rate: row.number(6) ?? 0,
                    phase: kind.phase)
                progress.isCopy = kind.isCopy
                progress.worker = names[Worker(row)]
                progress.sources = [JobSource](text: row.text(8))
                return JobUnderWay(
                    batch: row.text(0) ?? "", job: row.text(1) ?? "", isUpload: row.flag(2), progress: progress)
            }
        }
    }

    private func announce(_ db: PostgresConnection) throws {
        let now = MonotonicTime.now
        let isDue = announced.withLock { last in
            guard last.map({ now - $0 >= Self.interval }) ?? true else { return false }
            last = now
            return true
        }
        if isDue { try PostgresNotice.watched.tell(db) }
    }

    // MARK: Workers

    private struct Worker: Hashable {
        let host: String
        let pid: Int

        init(_ row: PostgresRow) {
            host = row.text(3) ?? ""
            pid = row.int(9) ?? 0
        }
    }

    /// Returns the name of each worker: that of its machine, with the process where several workers are on one machine.
    private static func names(_ rows: PostgresResult) -> [Worker: String] {
        let workers = Set(rows.map(Worker.init))
        let counts = workers.reduce(into: [String: Int]()) { $0[$1.host, default: 0] += 1 }
        return workers.reduce(into: [:]) { names, worker in
            names[worker] = counts[worker.host] == 1 ? worker.host : "\(worker.host)/\(worker.pid)"
        }
    }

    // MARK: Statements

    private static let jobs = PostgresStatement(
        "jobs_under_way", .all,
        """
        SELECT batch.name, job.identity, job.is_upload, process.host, run.told[slot + 1], run.told[slot + 2],
            run.told[slot + 3], run.told[slot + 4], run.sources -> run.told[slot]::text, process.pid
        FROM run JOIN process ON generation = run.process AND \(PostgresStatus.alive)
        CROSS JOIN generate_series(1, cardinality(run.told), \(RunProgress.Row.width)) AS slot
        JOIN job ON job.id = run.told[slot] AND job.owner = run.process AND job.state = \(JobStates.claimed)
        JOIN batch ON batch.id = job.batch
        ORDER BY run.told[slot + 2] DESC, job.id LIMIT $1
        """)

    package static let statements = [
        jobs
    ]
}
