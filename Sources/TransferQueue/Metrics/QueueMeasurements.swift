import TransferCore
package import TransferJobs

/// A translation of a queue's events into changes of metrics. No URL, file or job name becomes a label. Only the first
/// 100 hosts and 50 folders get labels; all later ones become `other`.
package struct QueueMeasurements: Sendable {
    /// A job that has started and has not ended.
    private struct Started {
        let direction: String
        let scheme: String
        let host: String
        var isUnderWay = true
        /// The number of bytes of the file that are there, by the last report.
        var position: Int64
        var shares = SourceShares()
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private var started: [Key: Started] = [:]
    private var underWay: [String: Int64] = [:]
    private var batches = BatchMeasurements()
    private var hosts: BoundedLabels
    private var folders = BoundedLabels(50)
    /// The labels of watched folders by batch. A folder that is no longer watched keeps its label.
    private var knownFolders: [String: String] = [:]
    private let folder: @Sendable (String) -> String?

    /// Creates a translation.
    ///
    /// - Parameters:
    ///   - mostHosts: The number of hosts that get a label of their own.
    ///   - folder: A function from the name of a batch to its watched folder; `nil` for other batches.
    package init(mostHosts: Int = 100, folder: @escaping @Sendable (String) -> String? = { _ in nil }) {
        hosts = BoundedLabels(mostHosts)
        self.folder = folder
    }

    /// The values before the first event.
    package static var beginning: [Measurement] {
        BatchMeasurements().changes + ["download", "upload"].map { Measurement(.jobs, ["active", $0], .set(0)) }
            + [
                Measurement(.refetched, [], .add(0)), Measurement(.leasesLost, [], .add(0)),
                Measurement(.connections, [], .set(0)), Measurement(.hostsPaused, [], .set(0)),
            ]
    }

    /// Takes an event.
    ///
    /// - Returns: The changes of metrics that follow.
    package mutating func changes(by event: QueueEvent) -> [Measurement] {
        switch event.kind {
        case .started(let job, let start): return begin(Key(batch: event.batch, job: job), start)
        case .progress(let job, let progress):
            return move(Key(batch: event.batch, job: job), to: progress.completed, progress.sources)
        case .retrying(let job, _, let error):
            let key = Key(batch: event.batch, job: job)
            return attempt(key, "retried", error.status) + throttled(key, error) + pause(key)
        case .restarted(let job, _): return restart(Key(batch: event.batch, job: job))
        case .waiting(let job, _): return pause(Key(batch: event.batch, job: job))
        case .finished(let receipt):
            return complete(Key(batch: event.batch, job: receipt.job), receipt) + uploaded(event)
        case .kept(let receipt): return [ended("kept", receipt.direction)]
        case .failed(let failure):
            return fail(Key(batch: event.batch, job: failure.job), failure) + upload(event.batch, "failed")
        case .skipped(let job, _): return leave(Key(batch: event.batch, job: job), "skipped")
        case .cancelled(let job): return leave(Key(batch: event.batch, job: job), "cancelled")
        case .dropped(let job): return leave(Key(batch: event.batch, job: job), "dropped")
        case .batchStarted(let totals): return report(event.batch, BatchProgress(totals))
        case .batchProgress(let progress): return settle(event.batch, progress) + report(event.batch, progress)
        case .batchFinished(let totals, _):
            return settle(event.batch, BatchProgress(totals)) + report(event.batch, BatchProgress(totals))
        case .hook(let news): return [Measurement(.hooks, [news.state.label], .add(1))]
        case .batchWaiting, .batchContinues, .commanded, .source, .authorized, .congestion: return []
        }
    }

    // MARK: A job's course

    private mutating func begin(_ key: Key, _ start: JobStart) -> [Measurement] {
        // Bytes that an attempt brought after its last report are known from the offset where the next one begins.
        var changes = pause(key) + move(key, to: start.offset)
        var job = Started(
            direction: start.isUpload ? "upload" : "download", scheme: start.url.schemeLabel,
            host: hosts.label(start.url.hostLabel), position: start.offset)
        job.shares = started[key]?.shares ?? SourceShares()
        job.shares.begin()
        started[key] = job
        changes.append(underWay(job.direction, 1))
        return changes
    }

    /// Counts the bytes up to a position.
    ///
    /// - Parameter sources: The sources of the file, if there are several.
    private mutating func move(_ key: Key, to position: Int64, _ sources: [JobSource] = []) -> [Measurement] {
        guard var job = started[key] else { return [] }
        let moved = max(0, position - job.position)
        job.position += moved
        var bytes: [(host: String, count: Int64)] = []
        if sources.isEmpty {
            if job.shares.moved(moved) { bytes.append((job.host, moved)) }
        } else {
            // Each server sent its own part.
            let sent = sources.map { (host: hosts.label($0.url.hostLabel), bytes: $0.bytes) }
            bytes = job.shares.sent(sent, own: job.host)
        }
        started[key] = job
        return bytes.filter { $0.count > 0 }.map { Measurement(.bytes, [job.direction, $0.host], .add($0.count)) }
    }

    private mutating func restart(_ key: Key) -> [Measurement] {
        guard let job = started[key], job.position > 0 else { return [] }
        started[key]?.position = 0
        return [Measurement(.refetched, [], .add(job.position))]
    }

    /// Counts a job as no longer under way; it may continue later.
    private mutating func pause(_ key: Key) -> [Measurement] {
        guard let job = started[key], job.isUnderWay else { return [] }
        started[key]?.isUnderWay = false
        return [underWay(job.direction, -1)]
    }

    private mutating func underWay(_ direction: String, _ change: Int64) -> Measurement {
        underWay[direction, default: 0] += change
        return Measurement(.jobs, ["active", direction], .set(Double(underWay[direction] ?? 0)))
    }

    /// Counts jobs that a stop has taken back. They report nothing of it, so the batch's report shows it.
    private mutating func settle(_ batch: String, _ progress: BatchProgress) -> [Measurement] {
        guard progress.active == 0 else { return [] }
        return started.keys.filter { $0.batch == batch }.flatMap { pause($0) }
    }

    // MARK: Ends

    private mutating func complete(_ key: Key, _ receipt: JobReceipt) -> [Measurement] {
        let moved = receipt.transferred > 0 ? move(key, to: receipt.bytes, receipt.sources) : []
        let changes = attempt(key, "completed", receipt.status) + moved
        return changes + leave(key, "completed", receipt.direction)
            + [Measurement(.jobDuration, [receipt.direction], .time(receipt.seconds))]
    }

    private mutating func fail(_ key: Key, _ failure: JobFailure) -> [Measurement] {
        let changes = failure.attempts > 0 ? attempt(key, "failed", failure.error.status) : []
        let position = started[key]?.position ?? 0
        let moved = failure.sources.isEmpty ? [] : move(key, to: position, failure.sources)
        let direction = failure.route?.job.map { $0.isUpload ? "upload" : "download" }
        return changes + moved + throttled(key, failure.error)
            + leave(key, "failed", started[key]?.direction ?? direction)
            + [Measurement(.failures, [failure.error.code.rawValue], .add(1))]
    }

    private mutating func leave(_ key: Key, _ result: String, _ direction: String? = nil) -> [Measurement] {
        let changes = pause(key)
        let known = started.removeValue(forKey: key)?.direction
        return changes + [ended(result, direction ?? known ?? "unknown")]
    }

    private func ended(_ result: String, _ direction: String) -> Measurement {
        Measurement(.jobsEnded, [result, direction], .add(1))
    }

    // MARK: Attempts

    private func attempt(_ key: Key, _ outcome: String, _ status: Int?) -> [Measurement] {
        var changes = [Measurement(.attempts, [started[key]?.scheme ?? "unknown", outcome], .add(1))]
        if let status, (100..<600).contains(status) {
            changes.append(Measurement(.responses, ["\(status / 100)xx"], .add(1)))
        }
        return changes
    }

    private func throttled(_ key: Key, _ error: TransferError) -> [Measurement] {
        guard error.status == 429 || error.retryAfter != nil, let host = started[key]?.host else { return [] }
        return [Measurement(.throttled, [host], .add(1))]
    }

    // MARK: Batches and folders

    private mutating func report(_ batch: String, _ progress: BatchProgress) -> [Measurement] {
        let changes = batches.report(batch, progress)
        guard let label = folderLabel(batch) else { return changes }
        return changes + [batches.pending(of: batch, as: label, progress.totals.remaining)]
    }

    private mutating func uploaded(_ event: QueueEvent) -> [Measurement] {
        guard let label = folderLabel(event.batch) else { return [] }
        return upload(event.batch, "completed")
            + [Measurement(.folderLastUpload, [label], .set(Double(event.time) / 1000))]
    }

    private mutating func upload(_ batch: String, _ result: String) -> [Measurement] {
        folderLabel(batch).map { [Measurement(.folderUploads, [$0, result], .add(1))] } ?? []
    }

    private mutating func folderLabel(_ batch: String) -> String? {
        if let known = knownFolders[batch] { return known }
        guard let folder = folder(batch) else { return nil }
        let label = folders.label(folder)
        knownFolders[batch] = label
        return label
    }
}

extension BatchProgress {
    /// Creates a report in which nothing is under way.
    fileprivate init(_ totals: BatchTotals) {
        self.init()
        self.totals = totals
    }
}

extension JobReceipt {
    fileprivate var direction: String { isUpload ? "upload" : "download" }
}

extension HookNews.State {
    fileprivate var label: String {
        switch self {
        case .reported: "told"
        case .retrying: "retried"
        case .failed: "failed"
        }
    }
}

extension String {
    /// The scheme label of this URL.
    fileprivate var schemeLabel: String {
        let scheme = prefix { $0 != ":" }
        return scheme.utf8.count < utf8.count ? scheme.lowercased() : "unknown"
    }

    /// The host label of this URL; the bucket of an `s3://` URL.
    fileprivate var hostLabel: String {
        if let origin = Origin(anyURL: self) { return origin.hostAndPort }
        let parts = split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count > 2 ? String(parts[2]) : "unknown"
    }
}
