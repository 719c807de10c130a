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
        let look = file.look()
        // Who saves a file by writing another one and giving it the name leaves the one that is open as it was. That of a
        // watched folder is a version of its own, and of what mustn't be repeated the former one has been delivered.
        let path = job.record.watched == nil && !job.record.spec.mustNotRepeat && !file.isInMemory ? file.path : nil
        // Of one that was touched before its last bytes left it's known that it has what was sent, and not that this is what
        // was to be sent.
        let expected = file.isAsOpened && look == .same ? nil : job.sourceDigest
        guard look == .unclear || look == .same && (path != nil || expected != nil) else {
            return then(self, look == .same)
        }
        engine.workers.execute { [loop] in
            let result =
                (path.map { file.isStill(at: $0) } ?? true) && (look == .same || file.hasWhatWasSent())
                && file.has(expected)
            loop.execute {
                self.onLoop { runner in
                    then(runner, result)
                    runner.pump()
                }
            }
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

extension TransferError {
    static func changed(_ file: SourceFile) -> TransferError {
        TransferError(.sourceChanged, "\(file.path) changed while it was being sent", isTransient: true)
    }
}
