import TransferCore
import TransferJobs
import TransferWatch

// The renewal of jobs at a new start of the watch.
extension UploadHistoryRule {
    /// Adapts all versions that are not confirmed to the current rules. The graph must hold all versions that name a
    /// job.
    package mutating func renewAll() {
        var paths = Set<PathKey>()
        for entry in graph.entries.values.filter({ $0.job != nil }).sorted(by: { $0.id > $1.id }) {
            let jobs = graph.jobs(ofEntry: entry.id)
            guard paths.insert(PathKey(entry.version.path)).inserted else {
                // A newer version of the file has a job.
                for job in jobs where !job.isClaimed { remove(job) }
                continue
            }
            guard plan.spec.rules.takes(file: entry.version.path) || jobs.last?.isLeftAlone == true else {
                for job in jobs where !job.isClaimed { remove(job) }
                if jobs.isEmpty { graph.remove(entry: entry.id) }
                continue
            }
            guard let job = jobs.last else {
                // The batch was forgotten.
                stage(entry.id, as: entry.version, digest: entry.digest)
                continue
            }
            if job.isClaimed || job.isLeftAlone { continue }
            renew(job, entry)
        }
        finish()
    }

    private mutating func renew(_ job: UploadHistoryJob, _ entry: UploadHistoryEntry) {
        let spec = plan.job(entry.version, digest: entry.digest, identity: job.identity)
        let isSame = spec.fingerprint == job.fingerprint
        changes.secrets[job.id] = JobSecrets(spec)
        // A refused upload keeps the time of its next attempt. A service may start again and again, which is no reason
        // to ask for all refused uploads each time. An upload that has arrived and only needs verification costs one
        // request, which each start makes.
        if isSame, job.state == .failed, job.keepsTime { return graph.change(job: job.id, .ranked) }
        let lane = lane(of: spec)
        let state: JobState = job.state == .paused || job.state == .blocked ? job.state : .queued
        graph.change(job: job.id, .renewed(keepsUpload: isSame)) {
            $0.state = state
            $0.lane = lane
            $0.destination = spec.destinationKey(directory: "/")
            $0.fingerprint = spec.fingerprint
        }
        let url = Redaction.url(plan.url(entry.version, digest: entry.digest))
        graph.change(entry.id) {
            $0.job = job.id
            $0.url = url
            $0.state = .open
        }
        if state == .queued, job.state != .queued { changes.ready[lane, default: 0] += 1 }
    }
}
