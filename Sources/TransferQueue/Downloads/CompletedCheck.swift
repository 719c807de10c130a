import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// A check whether a job that was complete before still is. Blocks, so it belongs on a worker thread.
enum CompletedCheck {
    enum Verdict: Sendable {
        case keep
        /// The job's file has changed: `ifExists` decides what happens to it.
        case redo
        /// The server is asked whether the file is still the newest version.
        case ask
        /// The file is fetched again: its content is wrong, or nothing proves that it is right.
        case fetch
    }

    /// Runs the check.
    ///
    /// - Parameter brought: The record that receives the files which are still there.
    static func run(
        _ job: CompletedJob, directory: String, _ options: RunOptions, _ brought: BroughtFiles
    ) -> Verdict {
        let verdict = run(job, directory: directory, options)
        if verdict != .redo { brought.note(job) }
        return verdict
    }

    static func run(_ job: CompletedJob, directory: String, _ options: RunOptions) -> Verdict {
        // Jobs under repair are no longer among the complete ones.
        if options.repairs != nil { return .keep }
        var status = stat()
        let isThere = stat(job.path, &status) == 0
        if job.isUpload {
            // A missing source was moved away after its upload; a changed one is another version.
            return isThere && !job.facts.isSameVersion(as: FileStamp(status)) ? .redo : .keep
        }
        guard isThere, job.facts.isSameVersion(as: FileStamp(status)) else { return .redo }
        if options.strict || job.isStrict, job.isLengthUnproven { return .fetch }
        guard options.verify else { return options.refresh ? .ask : .keep }
        guard isUnharmed(job) else { return .fetch }
        return options.refresh ? .ask : .keep
    }

    /// Returns whether the content is unchanged, by its digest or by the sums made at its download.
    private static func isUnharmed(_ job: CompletedJob) -> Bool {
        if let digest = job.digest { return (try? FileDigest.compute(job.path, digest.algorithm)) == digest }
        guard let sums = job.sums else { return false }
        return (try? FileReading.sums(job.path)) == sums
    }
}
