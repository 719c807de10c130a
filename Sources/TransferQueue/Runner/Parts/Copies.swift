import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore

/// The runner, as far as copies need it.
protocol CopyHost: UploadHost {
    var copies: Copies { get }
    func announceStart(_ job: RunningJob)
}

/// Copies from server to server: asks their sources, and hands them to the dialogues of uploads.
final class Copies {
    private let engine: ExchangeEngine

    init(engine: ExchangeEngine) { self.engine = engine }

    /// Asks the source what it has; of a copy that is gone on with it's known, and asked when the destination has said
    /// what it lacks.
    ///
    /// - Parameter link: The only link that both sides may be reached over.
    func begin(_ job: RunningJob, over link: String?, on host: isolated some CopyHost) {
        guard let from = job.record.spec.copySource else { return }
        var builder = host.builder(of: job)
        // Neither side's cookies are the other's.
        builder.cookies = JourneyCookies()
        let urls = from.download.urls
        let id = job.candidate.id
        let source = RemoteSource(
            urls.map(Redaction.url), version: job.record.upload?.remoteVersion, expected: from.download.checksum,
            digest: job.record.upload?.remote?.digest, engine: engine
        ) { [host] _ in
            host.loop.execute { host.onLoop { $0.copies.note(id, on: $0) } }
        } requests: { [builder] (index, point) throws(TransferError) in
            try builder.source(from, url: urls[index], point: point, over: link)
        }
        job.ready = .copy(source)
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

    /// Writes down how far the digest is of a copy that can be gone on with.
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
            if let size = job.record.spec.copySource?.download.size, size != version.size {
                throw TransferError(
                    .checksumMismatch, "the source has \(version.size) bytes, not \(size); nothing was sent")
            }
            try host.dialogues.begin(job, source, over: link, on: host)
            host.announceStart(job)
        } catch {
            host.failed(job, error, bodyLeft: false, progressed: false)
        }
    }
}
