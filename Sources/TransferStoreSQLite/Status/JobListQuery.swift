import FoundationEssentials
package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
import TransferStore

/// The jobs of a batch, page by page. A list of a million needs no more memory than one of a thousand, and no
/// transaction stays open while a client reads it.
package struct JobListQuery: Sendable {
    package let database: QueueDatabase

    /// - Parameters:
    ///   - number: The ``TransferJobs/ListedJob/number`` of the last job of the page before; 0 for the first page.
    ///   - failed: Whether only jobs that failed for good are read.
    package func page(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob] {
        try database.read { db in
            let running = try runningJobs(db, batch: name)
            // The numbers go by the order of the job file. All jobs are read by them: an index of the batch's would have to
            // be sorted for each page.
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT job.id, identity, \(ReserveRows.shownState) AS state, spec, size, resume, upload, path, attempts,
                        errorCode, errorMessage, status, finalURL, ended, claimed, notBefore, due, delay
                    FROM job WHERE \(failed ? Self.failedJobs : "+batch") = (SELECT id FROM batch WHERE name = ?) AND job.id > ?
                    ORDER BY job.id LIMIT ?
                    """, arguments: [name, number, limit]
            ).map { row in
                var job = Self.job(row)
                job.note(now: running?.bytes)
                return job
            }
        }
    }

    /// The jobs that a run works on which has the batch now.
    private func runningJobs(_ db: Database, batch name: String) throws -> RunningJobsText? {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT underWay, \(LeaseHolder.columns)
                FROM batch JOIN process ON process.id = batch.owner WHERE name = ?
                """, arguments: [name])
        guard let row, let holder = LeaseHolder(row), holder.holds(database.locks, own: database.process) else {
            return nil
        }
        return RunningJobsText(row[stored: "underWay"])
    }

    /// The condition of the partial index `jobRest`.
    private static let failedJobs =
        "job.state = \(JobStates.failed) AND state NOT IN (\(JobStates.list([.queued, .claimed, .done]))) AND batch"

    /// Makes the job of a row with the columns that the page selects.
    package static func job(_ row: Row) -> ListedJob {
        let state = JobState(stored: row[stored: "state"])
        var job = ListedJob(
            number: row[stored: "id"], job: row[stored: "identity"], state: state,
            route: JobRoute(canonicalJSON: row[stored: "spec"]))
        job.bytes = state == .done ? row[stored: "size"] : held(row)
        if state == .done { job.path = row[stored: "path"] }
        job.attempts = row[stored: "attempts"]
        switch state {
        case .done, .cancelled: job.finalURL = row[stored: "finalURL"]
        case .failed, .skipped, .waiting:
            job.code = row[stored: "errorCode"]
            job.message = row[stored: "errorMessage"]
            if state == .failed { job.finalURL = row[stored: "finalURL"] }
        case .queued, .claimed, .blocked, .paused: break
        }
        if state == .done || state == .failed {
            job.status = (row[stored: "status"] as Int?).flatMap { $0 > 0 ? $0 : nil }
        }
        job.since = since(state, row)
        return job
    }

    /// Returns the number of bytes that survive a crash of this machine.
    private static func held(_ row: Row) -> Int64? {
        if let text: String = row[stored: "upload"], let record = UploadRecord(text: text) { return record.confirmed }
        guard let text: String = row[stored: "resume"],
            let record = try? JSONDecoder().decode(ResumeData.self, from: Data(text.utf8))
        else { return nil }
        return record.written.count
    }

    private static func since(_ state: JobState, _ row: Row) -> Int64? {
        switch state {
        case .done, .failed, .skipped, .cancelled: row[stored: "ended"]
        case .claimed: row[stored: "claimed"]
        case .waiting:
            StoredWait(row).flatMap { wait in wait.length.map { max(0, wait.wall - $0) } }
        case .queued, .blocked, .paused: nil
        }
    }
}
