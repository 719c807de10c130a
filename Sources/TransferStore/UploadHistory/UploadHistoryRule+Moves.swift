import TransferCore
import TransferEngine
import TransferJobs
import TransferWatch

// Files that were renamed.
extension UploadHistoryRule {
    /// Records that a file of a version has another name now.
    ///
    /// - Returns: Whether there was room for its job.
    mutating func move(_ id: Int64, to version: FileVersion) -> Bool {
        guard let entry = graph.entries[id] else { return true }
        for older in graph.jobs(ofPath: version.path) where older.entry != id && !older.isClaimed { remove(older) }
        guard entry.state != .confirmed, entry.state != .leftAlone else { return moveSettled(entry, to: version) }
        let jobs = graph.jobs(ofEntry: id)
        if let last = jobs.last, last.isLeftAlone, !jobs.contains(where: \.isOpen) {
            rename(last, entry, to: version)
            return true
        }
        graph.change(id) {
            $0.version.stamp.device = version.stamp.device
            $0.gone = nil
        }
        // A job under way has the file open and continues. The new job starts only if the job under way comes to
        // nothing.
        let isPaused = jobs.contains { $0.state == .paused }
        for job in jobs where !job.isClaimed { remove(job, keepsEntry: true) }
        stage(id, as: version, digest: entry.digest, isPaused: isPaused)
        return true
    }

    private mutating func moveSettled(_ entry: UploadHistoryEntry, to version: FileVersion) -> Bool {
        let isReplaceable = entry.state == .confirmed && losesItsURL(entry, as: version)
        if isReplaceable, file(entry.version.path) != nil {
            // Another file has the former name, and so replaces this upload. An example is a log that was rotated.
            guard add(version, digest: entry.digest, fingerprint: entry.fingerprint) else { return false }
            replace(entry.id)
            return true
        }
        graph.change(entry.id) {
            $0.version.path = version.path
            $0.version.stamp.device = version.stamp.device
            $0.isRenamed = isReplaceable
        }
        if PathKey(entry.version.path) != PathKey(version.path) {
            changes.otherNames.append((entry.version.path, version.path))
        }
        cameBack(entry.id)
        return true
    }

    /// Gives a job that is left alone the new name of its file. The job still waits for a command.
    private mutating func rename(_ job: UploadHistoryJob, _ entry: UploadHistoryEntry, to version: FileVersion) {
        let spec = plan.job(version, digest: entry.digest, identity: job.identity)
        let url = Redaction.url(plan.url(version, digest: entry.digest))
        graph.change(job: job.id, .renamed) {
            $0.destination = spec.destinationKey(directory: "/")
            $0.fingerprint = spec.fingerprint
        }
        graph.change(entry.id) {
            $0.version.path = version.path
            $0.version.stamp.device = version.stamp.device
            $0.url = url
        }
        cameBack(entry.id)
    }

    /// Returns whether a file with the former name would replace this upload, because the file's own URL is another one
    /// now.
    private func losesItsURL(_ entry: UploadHistoryEntry, as version: FileVersion) -> Bool {
        let kind = plan.spec.upload.uploadProtocol
        guard !kind.givesNames, kind != .post else { return false }
        return entry.url != Redaction.url(plan.url(version, digest: entry.digest))
    }
}
