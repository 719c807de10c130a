import TransferCore
package import TransferJobs

/// Counts and states of a queue, from its events. Pure: whoever shows them reads ``families``.
///
/// Labels are bounded: the first hundred hosts have their own value, and those that come later share `other` for good, as
/// folders do from the fifty-first. No URL, file or job is a label. A host whose counts are zero has no series.
package struct QueueMetrics: Sendable {
    /// Jobs by batch.
    private var batches: [String: Batch] = [:]
    /// Transfers under way.
    private var active: [JobKey: Active] = [:]
    private var hosts = BoundedLabels(100)
    private var folders = BoundedLabels(50)

    private var counters: [Counter: [[String]: Double]] = [:]
    private var refetched = 0.0
    private var lastUploads: [String: Double] = [:]
    private var durations: [String: Histogram] = [:]
    private let folder: @Sendable (String) -> String?

    /// - Parameter folder: The watched folder of a batch of that name; `nil` for other batches.
    package init(folder: @escaping @Sendable (String) -> String? = { _ in nil }) { self.folder = folder }

    private enum Counter {
        case ended, failures, bytes, attempts, responses, throttled, uploads, hooks
    }

    private mutating func count(_ counter: Counter, _ labels: [String], by number: Double = 1) {
        counters[counter, default: [:]][labels, default: 0] += number
    }

    private struct JobKey: Hashable {
        let batch: String
        let job: String
    }

    private struct Batch {
        var totals = BatchTotals()
        var active = 0
        var waiting = 0
        var waits: [String: Int] = [:]
    }

    private struct Active {
        var url: String
        var isUpload: Bool
        /// Where the attempt's last report was.
        var position: Int64
        /// What of this run's bytes has been counted.
        var counted: Int64 = 0
    }

    // MARK: Events

    package mutating func receive(_ event: QueueEvent) {
        let name = event.batch
        switch event.kind {
        case .batchStarted(let totals):
            batches[name] = Batch(totals: totals)
            if let folder = self.folder(name) { _ = folders.label(folder) }
        case .batchProgress(let progress):
            var batch = Batch(totals: progress.totals, active: progress.active, waiting: progress.waiting)
            if let reason = progress.waitReason, progress.waiting > 0 {
                let count = min(progress.waiting, progress.waitingForReason ?? progress.waiting)
                batch.waits[reason.metricLabel] = count
                if count < progress.waiting { batch.waits["other", default: 0] += progress.waiting - count }
            } else if progress.waiting > 0 {
                batch.waits["other"] = progress.waiting
            }
            batches[name] = batch
        case .batchFinished(let totals, _): batches[name] = Batch(totals: totals)
        case .batchWaiting, .batchContinues, .commanded, .source, .authorized, .waiting, .dropped: break
        case .started(let job, let start):
            let key = JobKey(batch: name, job: job)
            let counted = active[key]?.counted ?? 0
            active[key] = Active(
                url: start.url, isUpload: start.isUpload, position: start.offset, counted: counted)
        case .progress(let job, let progress): moved(JobKey(batch: name, job: job), to: progress.completed)
        case .retrying(let job, _, let error): attemptFailed(JobKey(batch: name, job: job), error)
        case .restarted(let job, _):
            let key = JobKey(batch: name, job: job)
            refetched += Double(active[key]?.position ?? 0)
            active[key]?.position = 0
        case .finished(let receipt): finished(receipt, event)
        case .kept(let receipt): count(.ended, ["kept", receipt.direction])
        case .failed(let failure): failed(failure, event)
        case .skipped: count(.ended, ["skipped", ""])
        case .cancelled(let job):
            active[JobKey(batch: name, job: job)] = nil
            count(.ended, ["cancelled", ""])
        case .hook(let news): count(.hooks, [news.state.label])
        }
    }

    private mutating func moved(_ key: JobKey, to position: Int64) {
        guard var job = active[key], position > job.position else { return }
        let count = position - job.position
        (job.position, job.counted) = (position, job.counted + count)
        active[key] = job
        add(count, job.url, isUpload: job.isUpload)
    }

    private mutating func add(_ count: Int64, _ url: String, isUpload: Bool) {
        guard count > 0 else { return }
        self.count(.bytes, [isUpload ? "upload" : "download", host(of: url)], by: Double(count))
    }

    private mutating func host(of url: String) -> String {
        hosts.label(Origin(anyURL: url)?.hostAndPort ?? "other")
    }

    private mutating func attemptFailed(_ key: JobKey, _ error: TransferError) {
        // It stays for the bytes that the next attempt goes on from.
        guard let job = active[key] else { return }
        count(.attempts, [job.url.schemeLabel, "retried"])
        answered(error.status)
        if error.status == 429 || error.retryAfter != nil { count(.throttled, [host(of: job.url)]) }
    }

    private mutating func answered(_ status: Int?) {
        guard let status, (100..<600).contains(status) else { return }
        count(.responses, ["\(status / 100)xx"])
    }

    private mutating func finished(_ receipt: JobReceipt, _ event: QueueEvent) {
        let key = JobKey(batch: event.batch, job: receipt.job)
        let job = active.removeValue(forKey: key)
        let url = job?.url ?? receipt.route?.url ?? receipt.finalURL
        add(receipt.transferred - (job?.counted ?? 0), url, isUpload: receipt.isUpload)
        count(.ended, ["completed", receipt.direction])
        count(.attempts, [url.schemeLabel, "completed"])
        answered(receipt.status)
        durations[receipt.direction, default: Histogram()].observe(receipt.seconds)
        if let folder = self.folder(event.batch) {
            let label = folders.label(folder)
            count(.uploads, [label, "completed"])
            lastUploads[label] = max(lastUploads[label] ?? 0, Double(event.time) / 1000)
        }
    }

    private mutating func failed(_ failure: JobFailure, _ event: QueueEvent) {
        let key = JobKey(batch: event.batch, job: failure.job)
        if let job = active.removeValue(forKey: key) { count(.attempts, [job.url.schemeLabel, "failed"]) }
        answered(failure.error.status)
        let direction = failure.route?.job.map { $0.isUpload ? "upload" : "download" } ?? ""
        count(.ended, ["failed", direction])
        count(.failures, [failure.error.code.rawValue])
        if let folder = self.folder(event.batch) {
            count(.uploads, [folders.label(folder), "failed"])
        }
    }

    // MARK: Families

    /// All that is known, each family once.
    package var families: [MetricFamily] {
        var jobs: [String: Double] = [:]
        var waits: [[String]: Double] = [:]
        var pending: [[String]: Double] = [:]
        var labels = folders
        for (name, batch) in batches {
            let totals = batch.totals
            jobs["active", default: 0] += Double(batch.active)
            jobs["waiting", default: 0] += Double(batch.waiting)
            jobs["queued", default: 0] += Double(max(0, totals.remaining - batch.active - batch.waiting))
            jobs["done", default: 0] += Double(totals.kept + totals.completed)
            jobs["failed", default: 0] += Double(totals.failed)
            jobs["skipped", default: 0] += Double(totals.skipped)
            jobs["cancelled", default: 0] += Double(totals.cancelled)
            for (reason, count) in batch.waits { waits[[reason], default: 0] += Double(count) }
            if let folder = self.folder(name) {
                pending[[labels.label(folder)], default: 0] += Double(totals.remaining)
            }
        }
        let states = ["queued", "active", "waiting", "done", "failed", "skipped", "cancelled"]
        return [
            .gauge(
                "transfer_jobs", "Jobs of the batches of this run.", ["state"],
                Dictionary(states.map { ([$0], jobs[$0] ?? 0) }) { $1 }),
            .gauge(
                "transfer_jobs_waiting", "Jobs that wait, by what most of their batch waits for.", ["reason"], waits),
            .counter("transfer_jobs_ended_total", "Ends of jobs.", ["result", "direction"], counters[.ended] ?? [:]),
            .counter("transfer_failures_total", "Jobs that failed for good.", ["code"], counters[.failures] ?? [:]),
            .counter(
                "transfer_bytes_total", "Bytes of files that were moved.", ["direction", "host"],
                counters[.bytes] ?? [:]),
            .counter(
                "transfer_refetched_bytes_total", "Bytes that were given up and moved again.", [], [[]: refetched]),
            .counter(
                "transfer_attempts_total", "Attempts, by how they ended.", ["protocol", "outcome"],
                counters[.attempts] ?? [:]),
            .counter(
                "transfer_responses_total", "Answers that ended an attempt.", ["class"], counters[.responses] ?? [:]),
            .counter(
                "transfer_throttled_total", "Attempts that a server put off.", ["host"], counters[.throttled] ?? [:]),
            .counter(
                "transfer_hooks_total", "Attempts to tell a hook (onFinish).", ["outcome"], counters[.hooks] ?? [:]),
            .gauge("transfer_folder_pending_files", "Files that wait to be uploaded.", ["folder"], pending),
            .gauge(
                "transfer_folder_last_upload_timestamp_seconds", "When a file was last uploaded.", ["folder"],
                Dictionary(lastUploads.map { ([$0.key], $0.value) }) { $1 }),
            .counter(
                "transfer_folder_uploads_total", "Ends of uploads.", ["folder", "result"], counters[.uploads] ?? [:]),
            .histogram(
                "transfer_job_duration_seconds", "How long complete transfers took.", ["direction"],
                Dictionary(durations.map { ([$0.key], $0.value) }) { $1 }),
        ]
    }
}

/// Values of a label, of which only the first have their own name.
private struct BoundedLabels {
    private let limit: Int
    private var known: Set<String> = []

    init(_ limit: Int) { self.limit = limit }

    mutating func label(_ value: String) -> String {
        if known.contains(value) { return value }
        guard known.count < limit else { return "other" }
        known.insert(value)
        return value
    }
}

extension JobReceipt {
    fileprivate var direction: String { isUpload ? "upload" : "download" }
}

extension HookNews.State {
    fileprivate var label: String {
        switch self {
        case .told: "told"
        case .retrying: "retried"
        case .failed: "failed"
        }
    }
}

extension String {
    fileprivate var schemeLabel: String {
        let scheme = prefix { $0 != ":" }
        return scheme.utf8.count < utf8.count ? scheme.lowercased() : "other"
    }
}
