import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop

// What was sent is the file that there is, or the upload is none.
extension QueueRunner {
    /// Calls `then` with whether the bytes that its server has confirmed are the file's still: at once where nothing of it
    /// has changed; once a worker has compared them where only times have.
    func settleSource(
        _ job: RunningJob, _ file: SourceFile, then: @escaping @Sendable (isolated QueueRunner, Bool) -> Void
    ) {
        let spec = job.record.spec
        // What was read when it was opened has gone as it was then; and what mustn't be sent twice has been delivered, and
        // was looked at before its last bytes left.
        if job.record.watched == nil, job.sending.digest == nil,
            file.isInMemory || spec.mustNotRepeat && !spec.failsIfChanged
        {
            return then(self, true)
        }
        let look = file.look()
        // Who saves a file by writing another one and giving it the name leaves the one that is open as it was. That of a
        // watched folder is a version of its own.
        let isPathLooked = job.record.watched == nil && (!spec.mustNotRepeat || spec.failsIfChanged) && !file.isInMemory
        let path = isPathLooked ? file.path : nil
        // Of one that was touched before its last bytes left it's known that it has what was sent, and not that this is what
        // was to be sent.
        let expected = file.isAsOpened && look == .same ? nil : job.sending.digest
        // By its bytes a watched file is known for as long as it's in the folder.
        let keeper = file.sentFingerprint == nil && job.record.watched != nil ? watches[job.record.batch] : nil
        guard look == .touched || look == .retimed || look == .same && (path != nil || expected != nil || keeper != nil)
        else {
            return then(self, look == .same)
        }
        engine.workers.execute { [loop] in
            let result =
                (path.map { file.isStill(at: $0) } ?? true) && (look == .same || file.hasWhatWasSent(wholly: true))
                && file.has(expected)
            if result, let keeper { file.noteFingerprint { keeper.isStopped } }
            loop.execute {
                self.onLoop { runner in
                    then(runner, result)
                    runner.pump()
                }
            }
        }
    }
}

// A watched file's fingerprint is recorded before the file is sent.
extension QueueRunner {
    /// Reads a file that is too long to be read when it was found, so that it's known what was sent if this process ends in
    /// the middle of it. That is on the disk before its first byte leaves.
    ///
    /// - Returns: Whether it goes on by itself.
    func fingerprintFirst(_ id: Int64, _ job: RunningJob, _ file: SourceFile) -> Bool {
        guard let version = job.record.watched, version.fingerprint == nil, version.digest == nil,
            file.size <= OpenedSource.mostRead, let keeper = watches[job.record.batch]
        else { return false }
        engine.workers.execute { [loop] in
            let found = file.fingerprint { keeper.isStopped }
            let isSame = file.look() == .same
            loop.execute {
                self.onLoop { runner in
                    runner.noteFingerprint(isSame ? found : nil, of: id, version.ledger)
                    runner.pump()
                }
            }
        }
        return true
    }

    private func noteFingerprint(_ fingerprint: UInt64?, of id: Int64, _ ledger: Int64) {
        guard let job = running[id] else { return }
        guard let fingerprint else { return transferMarked(id, job) }
        job.record.watched?.fingerprint = fingerprint
        withStore {
            try $0.note([.fingerprint(fingerprint, ofLedger: ledger)])
        } then: { runner, _ in
            guard let job = runner.running[id] else { return }
            runner.transferMarked(id, job)
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
