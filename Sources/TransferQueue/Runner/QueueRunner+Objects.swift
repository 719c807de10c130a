import TransferCore
import TransferEngine
import TransferEventLoop
import TransferUpload

// Downloads from servers of objects: what these say of a refusal, and where a bucket is.
extension QueueRunner {
    /// - Returns: The error in the server's words, and whether the object is asked for again, in the region that the server
    ///   named.
    func objectRefused(
        _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome
    ) -> (error: TransferError, isElsewhere: Bool) {
        guard let object = job.object, let head = outcome.head,
            error.status == head.status || (300..<400).contains(head.status)
        else {
            return (error, false)
        }
        let now = WallClock.seconds
        let other = object.otherRegion(head, body: outcome.answer)
        let isElsewhere = other.map { builder.regions.learn($0, by: object) } ?? false
        return (object.refusal(head, body: outcome.answer, now: now), isElsewhere)
    }

    /// An answer about where the bucket is counts as no attempt, as a redirect doesn't.
    func askElsewhere(_ job: RunningJob, _ error: TransferError) {
        scheduler.originAnswered(job.candidate.lane.origin)
        leave(job, .retry(job.record, after: .zero, because: error, resume: job.record.resume))
    }
}
