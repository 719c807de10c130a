import CTransferFailpoint
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// The origin's part in a failure: pauses, probes, and who is told.
extension QueueRunner {
    func tellOrigin(_ job: RunningJob, _ attempt: FailedAttempt) {
        let origin = job.candidate.lane.origin
        if attempt.isCrowded, scheduler.originCrowded(origin, now: .now) { return scheduler.originAnswered(origin) }
        let isEndless = job.isEndless(in: folders.desk)
        switch attempt.news(of: origin, isEndless: isEndless) {
        case .failed:
            let wasOpen = scheduler.pause(of: origin, now: .now) == nil
            scheduler.originFailed(
                origin, job: job.candidate.id, attempt.error, rule: job.record.spec.settings.retry.rule,
                isEndless: isEndless, random: .random(in: 0..<1), now: .now)
            if wasOpen { announcePause(of: origin, job.record.batch) }
        case .answered: scheduler.originAnswered(origin)
        case .none: scheduler.originAbandoned(origin, job: job.candidate.id, now: .now)
        }
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
