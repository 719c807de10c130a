import TransferCore
import TransferJobs
import TransferWatch

// A new start of watching.
extension UploadHistoryRule {
    /// Brings all versions that aren't confirmed into line with the rules as they are now. The graph has all versions that
    /// name a job.
    package mutating func renewAll() {
        var paths = Set<PathKey>()
        for entry in graph.entries.values.filter({ $0.job != nil }).sorted(by: { $0.id > $1.id }) {
            let jobs = graph.jobs(ofEntry: entry.id)
            guard paths.insert(PathKey(entry.version.path)).inserted else {
                // A newer version is there.
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
        // A refused upload is tried again at its time: a service may begin again and again, and that is no reason to ask
        // for all of it each time. What has arrived and is only to be verified costs a question, and a start asks it.
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
