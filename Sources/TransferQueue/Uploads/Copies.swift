import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore
import TransferUpload

/// The part of the runner that copies need.
protocol CopyHost: UploadHost {
    var copies: Copies { get }
    /// The version of the source that an earlier attempt of this process saw.
    func seenSource(of job: RunningJob) -> RemoteVersion?
    func noteSeen(_ source: RemoteVersion, of job: RunningJob)
    func announceStart(_ job: RunningJob)
}

/// Copies from server to server. They query the sources, and hand them to the dialogues of uploads.
final class Copies {
    private let engine: any ExchangePerformer
    /// The sources that may be read over several connections, by their jobs.
    var readings: [Int64: CopyReading] = [:]

    init(engine: any ExchangePerformer) { self.engine = engine }

    /// Queries the source for its size and version. For a continued copy these are known; the source is then asked once
    /// the destination has reported the missing bytes.
    ///
    /// - Parameter link: The only network link that both sides may be reached over.
    func begin(_ job: RunningJob, over link: String?, on host: isolated some CopyHost) {
        guard let from = job.record.spec.copySource else { return }
        var builder = host.builder(of: job)
        // Each side keeps its own cookies.
        builder.cookies = JourneyCookies()
        let urls = from.download.urls
        let id = job.candidate.id
        let source = RemoteSource(
            urls.map(Redaction.url), version: job.record.upload?.remoteVersion, earlier: host.seenSource(of: job),
            expected: from.download.checksum, digest: job.record.upload?.remote?.digest, engine: engine,
            promised: ReprDigest.ofSource
        ) { [host] news in
            host.loop.execute { host.onLoop { $0.copies.heard(news, urls, of: id, on: $0) } }
        } requests: { [builder] (index, point) throws(TransferError) in
            try builder.source(from, url: urls[index], point: point, over: link)
        }
        job.ready = .copy(source)
        job.sources.isOfCopy = true
        source.open { [host] result in
            host.loop.execute {
                host.onLoop { host in
                    if let job = host.underWay(id), case .copy(let current) = job.ready, current === source {
                        host.copies.opened(job, source, result, over: link, on: host)
                    }
                    host.pump()
                }
            }
        }
    }

    /// Returns the record for the next attempt. If the source has another version, the copy begins anew and its
    /// destination is notified.
    static func recordLeft(
        by talk: UploadTalk, of job: RunningJob, after error: TransferError, on host: isolated some UploadHost
    ) -> UploadRecord? {
        guard talk.source.remote != nil, error.code == .sourceChanged else { return talk.record }
        host.emit(
            job.record.batch, .restarted(job: job.record.identity, reason: "the source changed since it began"))
        if let record = talk.record {
            host.abandon(AbandonedUpload(id: job.candidate.id, spec: job.record.spec, upload: record))
        }
        return nil
    }

    /// Returns the proofs that the destination has the source's bytes.
    static func proofs(_ source: RemoteSource, _ result: UploadResult, of spec: JobSpec) -> [JobProof] {
        var proofs: [JobProof] = []
        if let expected = source.expected, source.digest == expected { proofs.append(.checksum) }
        if let reported = result.digest, reported == source.digest { proofs.append(.digest) }
        if result.isTagged { proofs.append(.tag) }
        if spec.asksFirst, JobSpec.UploadProtocol.of(url: spec.urls.first ?? "") != .s3 { proofs.append(.length) }
        return proofs
    }

    private func heard(_ news: RemoteSource.News, _ urls: [String], of id: Int64, on host: isolated some CopyHost) {
        guard let job = host.underWay(id), case .copy = job.ready else { return }
        let now = MonotonicTime.now.inSeconds
        switch news {
        case .advanced: return note(id, on: host)
        case .lost(let error, let status, let connections, let working):
            readings[id]?.lost(error, status: status, connections, working: working)
            return
        case .opened(let index): job.sources.opened(urls[index], now: now)
        case .closed(let index, let bytes): job.sources.closed(urls[index], bytes: bytes, now: now)
        case .dropped(let index, let error): job.sources.dropped(urls[index], JobSource.Fault(error))
        }
        host.tellSources(of: job)
    }

    /// Records the progress of the digest, if the copy can be continued. A process that is lost before this is stored
    /// costs only that the source's bytes are read again.
    private func note(_ id: Int64, on host: isolated some CopyHost) {
        guard let job = host.underWay(id), let talk = job.talk, talk.knowsTheWay, !talk.isSaving,
            let record = talk.record
        else { return }
        job.record.upload = record
        host.note([.upload(record, of: id)])
    }

    private func opened(
        _ job: RunningJob, _ source: RemoteSource, _ result: Result<RemoteVersion, TransferError>, over link: String?,
        on host: isolated some CopyHost
    ) {
        guard case .preparing = job.phase else { return }
        if let stop = job.stop { return host.leave(job, for: stop) }
        do throws(TransferError) {
            let version = try result.get()
            host.noteSeen(version, of: job)
            if let size = job.record.spec.copySource?.download.size, size != version.size {
                throw TransferError(
                    .checksumMismatch, "the source has \(CountText.bytes(version.size)), not \(size); nothing was sent")
            }
            try host.dialogues.begin(job, source, over: link, on: host)
            host.announceStart(job)
            follow(job, source, on: host)
        } catch {
            host.failed(job, error, bodyLeft: false, progressed: false)
        }
    }
}
