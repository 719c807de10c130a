import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferFolders
import TransferJobs
import TransferUpload

/// The runner, as far as looks at the sources of uploads need it.
protocol SourceHost: PartHost {
    var sources: SourceChecks { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// The watch of the batch's folder, by this process or another; `nil` where no process watches it.
    func watch(of batch: Int64) -> SourceWatch?
    /// Goes on with a job whose source is open.
    func transferMarked(_ id: Int64, _ job: RunningJob)
}

/// The watch of a folder, for those that read its files.
struct SourceWatch: Sendable {
    /// The keeper, where it's this process's.
    let uploader: FolderUploader?

    /// - Parameter isShared: Whether other processes may watch the folder.
    /// - Returns: `nil` where no process watches it.
    init?(_ uploader: FolderUploader?, isShared: Bool) {
        guard uploader != nil || isShared else { return nil }
        self.uploader = uploader
    }

    /// Whether nothing more is to be read for it.
    var isStopped: Bool { uploader?.isStopped ?? false }
}

/// Looks at the sources of uploads, before their first byte leaves and after their last one did: what was sent is the file
/// that there is, or the upload is none.
final class SourceChecks {
    private let engine: ExchangeEngine

    init(engine: ExchangeEngine) { self.engine = engine }

    /// Calls `then` with whether the bytes that its server has confirmed are the file's still: at once where nothing of it
    /// has changed; once a worker has compared them where only times have.
    func settle<Host: SourceHost>(
        _ job: RunningJob, _ file: SourceFile, on host: isolated Host,
        then: @escaping @Sendable (isolated Host, Bool) -> Void
    ) {
        let spec = job.record.spec
        // A source that was read when it was opened has gone as it was then; and one that mustn't be sent twice has
        // been delivered, and was looked at before its last bytes left.
        if job.record.watched == nil, job.sending.digest == nil,
            file.isInMemory || spec.mustNotRepeat && !spec.failsIfChanged
        {
            return then(host, true)
        }
        let look = file.look()
        // An editor that saves a file by writing another one and giving it the name leaves the open one as it was. A
        // file of a watched folder is a version of its own.
        let isPathLooked = job.record.watched == nil && (!spec.mustNotRepeat || spec.failsIfChanged) && !file.isInMemory
        let path = isPathLooked ? file.path : nil
        // A file that was touched before its last bytes left is known to have what was sent, and not that this is what
        // was to be sent.
        let expected = file.isAsOpened && look == .same ? nil : job.sending.digest
        // By its bytes a watched file is known for as long as it's in the folder.
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

    /// Reads a file that is too long to be read when it was found, so that it's known what was sent if this process ends in
    /// the middle of it. That is on the disk before its first byte leaves.
    ///
    /// - Returns: Whether it goes on by itself.
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
    /// Whether no other file is there. What was deleted meanwhile was delivered before.
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
