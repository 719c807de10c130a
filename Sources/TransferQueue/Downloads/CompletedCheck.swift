import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// Whether a job that was complete before still is. Blocks: for workers.
enum CompletedCheck {
    enum Verdict: Sendable {
        case keep
        /// The job's file isn't as it was: `ifExists` says what becomes of it.
        case redo
        /// The server can tell whether it's the newest.
        case ask
        /// The file isn't what it was, or nothing is known by which that could be told.
        case fetch
    }

    /// - Parameter brought: Notes the files that are still there.
    static func run(
        _ job: CompletedJob, directory: String, _ options: RunOptions, _ brought: BroughtFiles
    ) -> Verdict {
        let verdict = run(job, directory: directory, options)
        if verdict != .redo { brought.note(job) }
        return verdict
    }

    static func run(_ job: CompletedJob, directory: String, _ options: RunOptions) -> Verdict {
        // Those that are repaired are no longer among the complete ones.
        if options.repairs != nil { return .keep }
        var status = stat()
        let isThere = stat(job.path, &status) == 0
        if job.isUpload {
            // A source that is gone was moved away after its upload; one that changed is another version.
            return isThere && !job.facts.isSameVersion(as: FileStamp(status)) ? .redo : .keep
        }
        guard isThere, job.facts.isSameVersion(as: FileStamp(status)) else { return .redo }
        if options.strict || job.isStrict, job.isLengthUnproven { return .fetch }
        guard options.verify else { return options.refresh ? .ask : .keep }
        guard isUnharmed(job) else { return .fetch }
        return options.refresh ? .ask : .keep
    }

    /// By its digest, or by the sums that were made when it came.
    private static func isUnharmed(_ job: CompletedJob) -> Bool {
        if let digest = job.digest { return (try? FileDigest.compute(job.path, digest.algorithm)) == digest }
        guard let sums = job.sums else { return false }
        return (try? FileReading.sums(job.path)) == sums
    }
}
