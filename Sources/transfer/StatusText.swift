import TransferQueue

/// The state of batches and failed jobs, as the tables show them.
enum StatusText {
    /// - Parameter state: The queue's folder, as it was named.
    static func row(_ status: BatchStatus, state folder: String?) -> BatchStatusRow {
        BatchStatusRow(
            name: status.name, state: state(status), done: status.done, total: status.total,
            failed: status.failed, skipped: status.skipped, cancelled: status.cancelled,
            waiting: status.pid != nil && status.waitingFor != nil ? status.remaining : status.waiting,
            rate: status.pid == nil ? nil : status.rate,
            eta: status.eta, pid: status.pid, remaining: status.remaining, source: status.source,
            command: RunAgain(status, state: folder)?.command,
            waitingFor: status.waitingFor, hosts: status.hosts, again: status.again)
    }

    static func row(_ job: FailedJob) -> FailedJobRow {
        FailedJobRow(
            job: job.job, code: job.code, reason: job.message, status: job.status, host: job.host,
            attempts: job.attempts, again: job.again)
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
