import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferUpload

/// The part of the runner that checks of upload sources need.
protocol SourceHost: PartHost {
    var sources: SourceChecks { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// The watch of the batch's folder, by this process or another; `nil` where no process watches it.
    func watch(of batch: Int64) -> SourceWatch?
    /// Continues a job whose source is open.
    func transferMarked(_ id: Int64, _ job: RunningJob)
}

/// The watch of a folder, for readers of its files.
struct SourceWatch: Sendable {
    /// The uploader of the folder, if it belongs to this process.
    let uploader: FolderUploader?

    /// - Parameter isShared: Whether other processes may watch the folder.
    /// - Returns: `nil` where no process watches it.
    init?(_ uploader: FolderUploader?, isShared: Bool) {
        guard uploader != nil || isShared else { return nil }
        self.uploader = uploader
    }

    /// Whether no more bytes are to be read for the folder.
    var isStopped: Bool { uploader?.isStopped ?? false }
}

/// Looks at the sources of uploads, before their first byte leaves and after their last one did: what was sent is the file
/// that there is, or the upload is none.
final class SourceChecks {
    private let engine: any ExchangePerformer

    init(engine: any ExchangePerformer) { self.engine = engine }

    /// Calls `then` with whether the confirmed bytes are still the file's. The call is immediate if nothing has
    /// changed, and follows a worker's comparison if only times have.
    func settle<Host: SourceHost>(
        _ job: RunningJob, _ file: SourceFile, on host: isolated Host,
        then: @escaping @Sendable (isolated Host, Bool) -> Void
    ) {
        let spec = job.record.spec
        // A source read at its opening was sent as it was then. An upload that must not be repeated is delivered, and
        // its source was checked before the last bytes left.
        if job.record.watched == nil, job.sending.digest == nil,
            file.isInMemory || spec.mustNotRepeat && !spec.failsIfChanged
        {
            return then(host, true)
        }
        let look = file.look()
        // An editor that saves by renaming a new file leaves the open one unchanged, so the path is checked. A watched
        // folder treats each file as a version of its own.
        let isPathLooked = job.record.watched == nil && (!spec.mustNotRepeat || spec.failsIfChanged) && !file.isInMemory
        let path = isPathLooked ? file.path : nil
        // A file that was touched before its last bytes left has the sent bytes, but these need not be the intended
        // ones.
        let expected = file.isAsOpened && look == .same ? nil : job.sending.digest
        // The fingerprint identifies a watched file by its bytes while it remains in the folder.
        let watch = file.sentFingerprint == nil && job.record.watched != nil ? host.watch(of: job.record.batch) : nil
        guard look == .touched || look == .retimed || look == .same && (path != nil || expected != nil || watch != nil)
        else {
            return then(host, look == .same)
        }
        engine.workers.execute { [host] in
            let result =
                (path.map { file.isStill(at: $0) } ?? true) && (look == .same || file.hasWhatWasSent(wholly: true))
                && file.has(expected)
            if result, let watch { file.noteFingerprint { watch.isStopped } }
            host.loop.execute {
                host.onLoop { host in
                    then(host, result)
                    host.pump()
                }
            }
        }
    }

    // MARK: Before the first byte

    /// Reads a file that was too long to be read when it was found, and stores its fingerprint before the first byte
    /// leaves. The sent version is then known even if this process ends during the upload. Before that note, the file
    /// can be read again.
    ///
    /// - Returns: Whether the job continues when the fingerprint is stored.
    func fingerprintFirst(
        _ id: Int64, _ job: RunningJob, _ file: SourceFile, on host: isolated some SourceHost
    ) -> Bool {
        guard let version = job.record.watched, version.fingerprint == nil, version.digest == nil,
            file.size <= OpenedSource.mostRead, let watch = host.watch(of: job.record.batch)
        else { return false }
        engine.workers.execute { [host] in
            let found = file.fingerprint { watch.isStopped }
            let isSame = file.look() == .same
            host.loop.execute {
                host.onLoop { host in
                    host.sources.noteFingerprint(isSame ? found : nil, of: id, version.history, on: host)
                    host.pump()
                }
            }
        }
        return true
    }

    private func noteFingerprint(
        _ fingerprint: UInt64?, of id: Int64, _ history: Int64, on host: isolated some SourceHost
    ) {
        guard let job = host.underWay(id) else { return }
        guard let fingerprint else { return host.transferMarked(id, job) }
        job.record.watched?.fingerprint = fingerprint
        host.withStore {
            try $0.note([.fingerprint(fingerprint, ofHistory: history)])
        } then: { host, _ in
            guard let job = host.underWay(id) else { return }
            host.transferMarked(id, job)
        }
    }
}

extension SourceFile {
    /// Returns whether no other file has the path. A file that was deleted meanwhile counts as delivered.
    fileprivate func isStill(at path: String) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return true }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    fileprivate func has(_ digest: Checksum?) -> Bool {
        guard let digest else { return true }
        return (try? FileDigest.compute(self, digest.algorithm, 0..<size)) == digest
    }
}
