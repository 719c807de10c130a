import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

// What the sources of a file did, for those who look on.
extension SegmentedDownloads {
    /// A connection besides the first one has ended.
    ///
    /// - Parameter fault: Why it brought less than its part.
    func noteEnd(
        _ job: RunningJob, _ segments: SegmentedJob, _ connection: SegmentedJob.Connection, _ outcome: ExchangeOutcome,
        _ fault: TransferError?, _ now: MonotonicTime, on host: isolated some SegmentHost
    ) {
        let source = segments.sources[connection.source]
        job.sources.closed(source.url, bytes: outcome.received, now: now.inSeconds)
        if let fault, job.stop == nil {
            let reason = JobSource.Fault(
                fault, outcome.head, total: job.meter.total, validator: source.validator)
            if source.dropped != nil {
                job.sources.dropped(source.url, reason)
            } else if source.notBefore > now.inSeconds {
                job.sources.paused(source.url, reason, until: source.notBefore)
            }
        }
        tellSources(job, segments, now: now, on: host)
    }

    /// Tells which sources aren't asked any more, and which are again.
    func tellSources(
        _ job: RunningJob, _ segments: SegmentedJob, now: MonotonicTime, on host: isolated some SegmentHost
    ) {
        for index in segments.sources.all.indices where segments.sources.isSlow(index) {
            let source = segments.sources[index]
            guard source.connections == 0, index > 0 || segments.lead != nil else { continue }
            let best = segments.sources.all.compactMap(\.rate).max() ?? 0
            let (own, other) = (ByteCount.format(Int64(source.rate ?? 0)), ByteCount.format(Int64(best)))
            job.sources.paused(
                source.url, JobSource.Fault(.slow, "\(own)/s a connection, where another source gives \(other)/s"))
        }
        host.tellSources(of: job)
    }
}

extension PartHost {
    /// Tells what has changed of a job's sources.
    func tellSources(of job: RunningJob) {
        guard job.sources.hasNews else { return }
        for source in job.sources.takeNews(now: MonotonicTime.now.inSeconds) {
            emit(job.record.batch, .source(job: job.record.identity, source))
        }
    }

    /// The first connection of a download has been asked for.
    func sourceAsked(_ job: RunningJob) {
        guard case .download(let download) = job.record.spec.work, download.urls.count > 1 || !job.sources.isEmpty
        else { return }
        job.sources.opened(job.url, now: MonotonicTime.now.inSeconds)
        tellSources(of: job)
    }

    /// An attempt came to nothing by the fault of its only source, where there are others.
    ///
    /// - Parameter isSpent: Whether it's never asked again.
    func sourceFailed(_ job: RunningJob, _ error: TransferError, isSpent: Bool) {
        guard case .download(let download) = job.record.spec.work, download.urls.count > 1, job.sources.isOfOne,
            error.errno == nil, error.code != .secretMissing, error.code != .cancelled
        else { return }
        let fault = JobSource.Fault(error)
        if isSpent { job.sources.dropped(job.url, fault) } else { job.sources.paused(job.url, fault) }
        tellSources(of: job)
    }
}

extension SourceStatistics {
    /// How the sources of a job under way stand.
    func reported(_ job: RunningJob) -> [JobSource] {
        guard !isEmpty else { return [] }
        let (underWay, now) = (Self.underWay(job), MonotonicTime.now.inSeconds)
        measure(underWay, now: now)
        return current(underWay, now: now)
    }

    /// The bytes that connections which haven't ended sent, by their URLs.
    private static func underWay(_ job: RunningJob) -> [String: Int64] {
        if case .copy(let source) = job.ready, let urls = job.record.spec.copySource?.download.urls {
            return Dictionary(uniqueKeysWithValues: source.underWay.map { (urls[$0.key], $0.value) })
        }
        guard case .transferring = job.phase else { return [:] }
        var bytes: [String: Int64] = [:]
        if let segments = job.segments {
            for connection in segments.connections.values {
                bytes[segments.sources[connection.source].url, default: 0] += connection.meter.received
            }
        }
        if job.segments?.lead == nil { bytes[job.url, default: 0] += job.meter.received }
        return bytes
    }
}
