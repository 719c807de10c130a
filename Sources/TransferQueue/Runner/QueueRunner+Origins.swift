import CTransferFailpoint
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// The origin's part in a failure: pauses, probes, and who is told.
extension QueueRunner {
    /// Whether the job waits behind its origin's pause anyway: it keeps its place among those of its folder.
    func isHeldByOrigin(_ job: RunningJob, _ error: TransferError) -> Bool {
        error.scope == .origin && job.isEndless(in: watches)
            && scheduler.pause(of: job.candidate.lane.origin, now: .now) != nil
    }

    /// Nothing is wrong with the file: its origin is probed for ever.
    func waitForOrigin(_ job: RunningJob, _ record: JobRecord, _ error: TransferError, _ resume: ResumeData?) {
        var record = record
        let rule = record.spec.settings.retry.rule
        let error = error.bounded(to: rule.longestWait)
        let delay = rule.delay(
            retriesSpent: record.attempts, retryAfter: error.retryAfter, random: .random(in: 0..<1))
        record.attempts += 1
        leave(
            job, .retry(record, after: isHeldByOrigin(job, error) ? .zero : delay, because: error, resume: resume))
    }

    func tellOrigin(_ job: RunningJob, _ error: TransferError) {
        let origin = job.candidate.lane.origin
        if error.code == .tooManyConnections, scheduler.originCrowded(origin, now: .now) {
            return scheduler.originAnswered(origin)
        }
        if error.scope == .origin || isSilent(job, error) {
            let wasOpen = scheduler.pause(of: origin, now: .now) == nil
            scheduler.originFailed(
                origin, job: job.candidate.id, error, rule: job.record.spec.settings.retry.rule,
                isEndless: job.isEndless(in: watches), random: .random(in: 0..<1), now: .now)
            if wasOpen { announcePause(of: origin, job.record.batch) }
        } else if error.status != nil || job.start != nil || error.code == .connectionLost {
            scheduler.originAnswered(origin)
        } else {
            scheduler.originAbandoned(origin, job: job.candidate.id, now: .now)
        }
    }

    /// Whether its origin ended the connection without a byte of an answer, as what stands in front of a dead one does. One
    /// file may be the reason; several in a row aren't. A folder has time to find that out, other batches have to end.
    func isSilent(_ job: RunningJob, _ error: TransferError) -> Bool {
        job.isEndless(in: watches) && !job.sending.wasAnswered && error.status == nil
            && (error.code == .connectionLost || error.code == .secureConnectionFailed)
            && job.candidate.lane.origin.hasPrefix("http")
    }

    func announcePause(of origin: String, _ batch: Int64) {
        guard let (error, remaining) = scheduler.pause(of: origin, now: .now) else { return }
        if error.retryAfter != nil {
            // What a server asked for holds for the next process too.
            let pause = StoredPause(
                origin: origin, remaining: remaining, status: error.status, message: error.message)
            withStore {
                try $0.publish(.pause(pause))
            } then: { _, _ in
            }
        }
        emit(batch, .batchWaiting(.held(by: origin, error, remaining: remaining), transfers: 0))
    }
}
