import TransferCore
package import TransferJobs

/// Makes changes of metrics of a queue's events. No URL, file or name of a job becomes a label; hosts are the first hundred
/// that were met, and `other` for good beyond them.
package struct QueueMeasurements: Sendable {
    /// A job that has started and hasn't ended.
    private struct Started {
        let direction: String
        let scheme: String
        let host: String
        var isUnderWay = true
        /// The bytes of the file that are there, as it was told last.
        var position: Int64
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private var started: [Key: Started] = [:]
    private var underWay: [String: Int64] = [:]
    /// By batch: how many wait, and for what most of them do.
    private var waiting: [String: (reason: String, count: Int64)] = [:]
    private var shownReasons: Set<String> = []
    private var hosts: Set<String> = []
    private let mostHosts: Int

    /// - Parameter mostHosts: So many hosts have a label of their own.
    package init(mostHosts: Int = 100) { self.mostHosts = mostHosts }

    /// - Returns: What the event changes.
    package mutating func changes(by event: QueueEvent) -> [Measurement] {
        switch event.kind {
        case .started(let job, let start): return begin(Key(batch: event.batch, job: job), start)
        case .progress(let job, let progress): return move(Key(batch: event.batch, job: job), to: progress.completed)
        case .retrying(let job, _, let error):
            let key = Key(batch: event.batch, job: job)
            return attempt(key, "retried", error.status) + throttled(key, error) + pause(key)
        case .restarted(let job, _):
            started[Key(batch: event.batch, job: job)]?.position = 0
            return []
        case .waiting(let job, _): return pause(Key(batch: event.batch, job: job))
        case .finished(let receipt): return complete(Key(batch: event.batch, job: receipt.job), receipt)
        case .kept(let receipt): return ended("kept", receipt.isUpload ? "upload" : "download")
        case .failed(let failure): return fail(Key(batch: event.batch, job: failure.job), failure)
        case .skipped(let job, _): return leave(Key(batch: event.batch, job: job), "skipped")
        case .cancelled(let job): return leave(Key(batch: event.batch, job: job), "cancelled")
        case .dropped(let job): return leave(Key(batch: event.batch, job: job), "dropped")
        case .batchProgress(let progress):
            return wait(event.batch, progress.waiting, progress.waitReason.map(\.metricLabel))
        case .batchFinished: return wait(event.batch, 0, nil)
        case .batchStarted, .batchWaiting, .batchContinues, .commanded, .source, .authorized, .hook: return []
        }
    }

    // MARK: A job's way

    private mutating func begin(_ key: Key, _ start: JobStart) -> [Measurement] {
        // What an attempt brought after it was last told of is known by where the next one begins.
        var changes = pause(key) + move(key, to: start.offset)
        // A redacted URL: SCHEME://HOST:PORT/…
        let parts = start.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let job = Started(
            direction: start.isUpload ? "upload" : "download", scheme: String(parts[0].dropLast()),
            host: label(ofHost: parts.count > 2 ? String(parts[2]) : "unknown"), position: start.offset)
        started[key] = job
        changes.append(underWay(job.direction, 1))
        return changes
    }

    private mutating func move(_ key: Key, to position: Int64) -> [Measurement] {
        guard let job = started[key], position > job.position else { return [] }
        started[key]?.position = position
        return [Measurement(.bytes, [job.direction, job.host], .add(position - job.position))]
    }

    /// It isn't under way any more, and may go on.
    private mutating func pause(_ key: Key) -> [Measurement] {
        guard let job = started[key], job.isUnderWay else { return [] }
        started[key]?.isUnderWay = false
        return [underWay(job.direction, -1)]
    }

    // MARK: Ends

    private mutating func complete(_ key: Key, _ receipt: JobReceipt) -> [Measurement] {
        let direction = receipt.isUpload ? "upload" : "download"
        let moved = receipt.transferred > 0 ? move(key, to: receipt.bytes) : []
        let changes = attempt(key, "completed", receipt.status) + moved
        return changes + leave(key, "completed", direction)
            + [Measurement(.jobDuration, [direction], .time(receipt.seconds))]
    }

    private mutating func fail(_ key: Key, _ failure: JobFailure) -> [Measurement] {
        let changes = failure.attempts > 0 ? attempt(key, "failed", failure.error.status) : []
        return changes + throttled(key, failure.error) + leave(key, "failed")
            + [Measurement(.failures, [failure.error.code.rawValue], .add(1))]
    }

    private mutating func leave(_ key: Key, _ result: String, _ direction: String? = nil) -> [Measurement] {
        let changes = pause(key)
        let known = started.removeValue(forKey: key)?.direction
        return changes + ended(result, direction ?? known ?? "unknown")
    }

    private func ended(_ result: String, _ direction: String) -> [Measurement] {
        [Measurement(.jobsEnded, [result, direction], .add(1))]
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

    // MARK: Gauges

    private mutating func underWay(_ direction: String, _ change: Int64) -> Measurement {
        underWay[direction, default: 0] += change
        return Measurement(.jobsUnderWay, ["running", direction], .set(underWay[direction] ?? 0))
    }

    /// - Parameter reason: Of most of them; `nil` where it isn't known.
    private mutating func wait(_ batch: String, _ count: Int, _ reason: String?) -> [Measurement] {
        waiting[batch] = count > 0 ? (reason ?? "slot", Int64(count)) : nil
        var sums: [String: Int64] = [:]
        for (reason, count) in waiting.values { sums[reason, default: 0] += count }
        shownReasons.formUnion(sums.keys)
        return shownReasons.sorted().map { Measurement(.jobsWaiting, [$0], .set(sums[$0] ?? 0)) }
    }

    private mutating func label(ofHost host: String) -> String {
        if hosts.contains(host) { return host }
        guard hosts.count < mostHosts else { return "other" }
        hosts.insert(host)
        return host
    }
}

extension WaitReason {
    package var metricLabel: String {
        switch self {
        case .host: "host"
        case .retry: "retry"
        case .dependency: "dependency"
        case .slot: "slot"
        case .disk: "disk"
        case .schedule: "schedule"
        case .clock: "clock"
        case .openFiles: "openFiles"
        case .network: "network"
        case .paused: "paused"
        }
    }
}
