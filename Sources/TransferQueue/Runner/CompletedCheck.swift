import Glibc
import TransferCore
import TransferEngine

/// Whether a job that was complete before still is. Blocks: for workers.
enum CompletedCheck {
    enum Verdict: Sendable {
        case keep, redo
        /// Only the server can tell.
        case ask
    }

    static func run(_ job: SQLiteStore.CompletedJob, directory: String, _ options: RunOptions) -> Verdict {
        var status = stat()
        let isThere = stat(job.path, &status) == 0
        if job.isUpload {
            // A source that is gone was moved away after its upload; one that changed is another version.
            return isThere && !job.facts.isSameVersion(as: FileStamp(status)) ? .redo : .keep
        }
        guard isThere, job.facts.isSameVersion(as: FileStamp(status)) else { return .redo }
        if options.refresh { return .ask }
        guard options.verify else { return .keep }
        guard let digest = job.digest else { return .ask }
        return (try? FileDigest.compute(job.path, digest.algorithm)) == digest ? .keep : .redo
    }
}
