import TransferCore
import TransferEngine

/// Downloads whose files stay as they are.
extension QueueRunner {
    /// The file is there and complete: nothing was transferred.
    ///
    /// - Parameter confirmed: The version that its server confirmed just now.
    func keep(
        _ job: RunningJob, path: String, facts: FileStamp, digest: Checksum?, confirmed: HeldVersion? = nil
    ) {
        var receipt = receipt(job, path: path, bytes: facts.size, digest: digest)
        receipt.validator = confirmed?.validator.description ?? receipt.validator ?? job.record.validator
        receipt.finalURL = (confirmed?.place ?? job.record.place)?.url ?? receipt.finalURL
        receipt.attempts = job.record.attempts
        receipt.isConfirmed = confirmed != nil
        leave(job, .kept(receipt, facts))
    }

    /// A file is there that nobody vouches for: with no facts on record it's never taken for this job's own.
    func leaveFile(_ job: RunningJob, path: String, facts: FileStamp) {
        var receipt = receipt(job, path: path, bytes: facts.size, digest: nil)
        receipt.attempts = job.record.attempts
        leave(job, .kept(receipt, nil))
    }

    /// The server said that the file is the newest.
    func notModified(_ job: RunningJob, _ ready: ReadyDownload, _ version: HeldVersion) {
        scheduler.originAnswered(job.candidate.lane.origin)
        if ready.part.initialSize == 0 { ready.part.remove() }
        // The answer speaks of the file that the server was asked about.
        guard case .only(let path, let judged) = ready.replacement,
            case .file(let facts)? = try? DestinationName.look(path), facts.likeness(to: judged) == .same
        else {
            let path = ready.target.file(url: job.url, disposition: nil)
            let error = TransferError(
                .fileMissing, "\(path) vanished or changed while its server was asked about it", isTransient: true)
            return failed(job, error, bodyLeft: false)
        }
        let digest = facts.isSameVersion(as: job.record.facts) ? job.record.digest : nil
        keep(job, path: path, facts: facts, digest: digest, confirmed: version)
    }
}
