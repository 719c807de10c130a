import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// No descriptor was left for the job: nothing is known against its server or its file. Others of ours give theirs back,
    /// and fewer are started.
    ///
    /// - Returns: `nil` where the job waits for the others now. Where there are none, the failure, as one that is waited for
    ///   by time: without an attempt, and not for ever.
    func waitForDescriptors(_ job: RunningJob, _ error: TransferError, resume: ResumeData?) -> TransferError? {
        let now = MonotonicTime.now
        let others = scheduler.active.count - (scheduler.active[job.candidate.id] == nil ? 0 : 1)
        let wasAlone = admission.descriptors.noted(others: others + downloads.unsaved, started: job.started, now: now)
        let limit = OpenFiles.limit
        let advice =
            limit == .max ? "" : " (the limit is \(limit): raise it with ulimit -n, or LimitNOFILE= in a unit)"
        let narrowed = max(1, others)
        if scheduler.openFiles.map({ narrowed < $0.places }) ?? true, admission.descriptors.tells(now: now) {
            let count = narrowed == 1 ? "1 transfer" : "\(narrowed) transfers"
            emit(
                job.record.batch,
                .batchWaiting(
                    .openFiles("\(error.message); \(count) at a time for now, no attempt is spent\(advice)"),
                    transfers: 0))
        }
        scheduler.descriptorsLacked(others: others, now: now)
        preparing.forgetAhead()
        downloads.saveGroup(on: self)
        guard wasAlone else {
            leave(
                job,
                .wait(
                    .openFiles(error.message), after: Self.descriptorDelay, resume: resume, startsCountAnew: false))
            return nil
        }
        // Connections that are kept for requests to come are all that is left.
        engine.renewNetwork()
        var error = error
        error.isTransient = true
        error.scope = .transfer
        error.retryAfter = .seconds(1)
        error.message += advice
        return error
    }

    /// Longer than a small file takes, which gives its descriptors back then.
    private static let descriptorDelay = Duration.milliseconds(250)
}
