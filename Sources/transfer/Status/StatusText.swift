import TransferQueue

/// The state of batches and failed jobs, as the tables show them.
enum StatusText {
    /// - Parameter hint: For the commands that are told.
    static func row(_ status: BatchStatus, hint: CommandHint) -> BatchStatusRow {
        var row = BatchStatusRow(
            name: status.name, state: state(status), done: status.done, total: status.total,
            failed: status.failed, skipped: status.skipped, cancelled: status.cancelled,
            waiting: status.pid != nil && status.waitingFor != nil ? status.remaining : status.waiting,
            rate: status.pid == nil ? nil : status.rate,
            eta: status.eta, pid: status.pid, remaining: status.remaining, source: status.source,
            command: hint.queue != nil ? hint.command("work") : RunAgain(status, state: hint.state)?.command,
            waitingFor: status.waitingFor, hosts: status.hosts, again: status.again)
        row.folder = status.folder
        row.nextAttempt = status.pid == nil ? nil : status.nextAttempt
        row.lacks = status.lacks
        row.why = status.folder?.error.map { hint.command("why", "\(status.name)/\($0.job)") }
        return row
    }

    /// - Parameter status: Of its batch: a file of a folder that nobody watches isn't tried again at that time.
    static func row(_ job: FailedJob, of status: BatchStatus) -> FailedJobRow {
        FailedJobRow(
            job: job.job, code: job.code, reason: job.message, status: job.status, host: job.host,
            attempts: job.attempts, again: status.pid == nil ? nil : job.again, route: job.route, finalURL: job.finalURL
        )
    }

    private static func state(_ status: BatchStatus) -> String {
        if WatchBatch.folder(of: status.name) != nil, status.pid != nil, status.waitingFor == nil,
            status.paused < max(1, status.remaining)
        {
            return "watching"
        }
        if status.remaining == 0 { return "finished" }
        if status.paused == status.remaining { return "paused" }
        if status.pid == nil { return "stopped" }
        return status.waitingFor == nil ? "running" : "offline"
    }
}
