import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// Claims, and what they are given back by.
extension QueueModel {
    mutating func hold(_ selection: BatchSelection, by owner: Int64) -> [HeldBatch] {
        var held: [HeldBatch] = []
        for (id, batch) in batches.sorted(by: { $0.key < $1.key }) where batch.owner == nil || batch.owner == owner {
            switch selection {
            case .named(let name): guard batch.name == name else { continue }
            case .unfinished: guard jobs(of: id).contains(where: { !$0.state.hasEnded }) else { continue }
            }
            batches[id]?.owner = owner
            held.append(HeldBatch(id: id, name: batch.name, directory: batch.directory))
        }
        return held
    }

    mutating func claim(_ want: LaneWant, _ secrets: [Int64: JobSecrets], by owner: Int64) -> ClaimedJobs {
        let ready = jobs.values.filter { $0.state == .queued && $0.lane == want.lane }.sorted { first, second in
            let (one, other) = (first.staged.spec.priority, second.staged.spec.priority)
            return one == other ? first.id < second.id : one > other
        }
        var claimed = ClaimedJobs(lane: want.lane, jobs: [], unreadable: [])
        for job in ready.prefix(want.limit) {
            apply(.claim, to: job.id) { _ in .number(owner) }
            guard !job.hasSecrets || secrets[job.id] != nil else {
                claimed.unreadable.append((job.id, job.identity, TransferError(.secretMissing, "")))
                continue
            }
            claimed.jobs.append((record(job, claimed: jobs[job.id]?.claim.time ?? 0), job.staged.spec.priority))
        }
        return claimed
    }

    private func record(_ job: ModelJob, claimed: Int64) -> JobRecord {
        var record = JobRecord(
            id: job.id, batch: job.batch, identity: job.identity, spec: job.staged.sharedSpec, claimed: claimed)
        record.attempts = job.tries.attempts
        record.askedWait = job.tries.askedWait
        record.mirror = job.tries.mirror
        record.spentMirrors = job.tries.spentMirrors
        (record.resume, record.upload) = (job.resume, job.upload)
        (record.wasInterrupted, record.recheck) = (job.claim.wasInterrupted, job.recheck)
        if let (receipt, facts) = job.receipt {
            record.facts = facts
            record.digest = receipt.digest
            record.validator = receipt.validator
            record.place = AnsweredPlace(url: receipt.finalURL, takesCredentials: false)
        }
        return record
    }

    mutating func wake(_ ids: [Int64]) -> [Lane: Int] {
        var lanes: [Lane: Int] = [:]
        for id in ids where apply(.wake, to: id) {
            if let job = jobs[id] { lanes[job.lane, default: 0] += 1 }
        }
        return lanes
    }

    func backlog(of batch: Int64) -> Backlog {
        var backlog = Backlog()
        for job in jobs(of: batch) {
            if job.state == .queued { backlog.ready[job.lane, default: 0] += 1 }
            if job.state == .waiting {
                backlog.sleepers.append(SleepingJob(id: job.id, lane: job.lane, due: job.due ?? .now, isAsked: true))
            }
        }
        return backlog
    }

    mutating func note(_ note: JobNote) {
        switch note {
        case .upload(let record, let id):
            jobs[id]?.upload = record
            if record?.knowsTheWay == true { jobs[id]?.claim.isSending = false }
        case .sending(let id, let isUnrepeatable, let version):
            jobs[id]?.claim.isSending = isUnrepeatable
            if let version { jobs[id]?.upload = version }
        case .part(let record, let id): if jobs[id]?.state == .claimed { jobs[id]?.resume = record }
        case .abandoned(let id): if jobs[id]?.state == .cancelled { jobs[id]?.upload = nil }
        case .fingerprint: break
        }
    }

    func completed(_ batch: Int64) -> [CompletedJob] {
        jobs(of: batch).compactMap { job in
            guard job.state == .done, let (receipt, facts) = job.receipt else { return nil }
            return CompletedJob(
                id: job.id, batch: batch, identity: job.identity, isUpload: receipt.isUpload, path: receipt.path,
                facts: facts ?? FileStamp(size: receipt.bytes, modified: 0), digest: receipt.digest, sums: receipt.sums,
                validator: receipt.validator, finalURL: receipt.finalURL, status: receipt.status,
                attempts: receipt.attempts, isLengthUnproven: receipt.isLengthUnproven,
                route: JobRoute(job.staged.spec), isStrict: job.staged.spec.isStrict)
        }
    }

    mutating func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) {
        for id in ids {
            guard let job = jobs[id], job.state == .done || job.receipt != nil else { continue }
            apply(.redo, to: id) { _ in JobValue(recheck.rawValue) }
        }
        unblock()
    }

    func abandoned(_ batch: Int64, _ secrets: [Int64: JobSecrets]) -> [AbandonedUpload] {
        jobs(of: batch).compactMap { job in
            guard job.state == .cancelled, let upload = job.upload, !job.hasSecrets || secrets[job.id] != nil else {
                return nil
            }
            return AbandonedUpload(id: job.id, spec: job.staged.spec, upload: upload)
        }
    }
}
