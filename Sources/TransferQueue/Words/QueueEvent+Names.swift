import TransferStore

extension QueueEvent.Kind {
    /// The job whose wait, if there was one, ends with this event.
    package var endsWaitOf: String? {
        switch self {
        case .started, .finished, .kept, .skipped, .cancelled, .dropped, .failed: job
        default: nil
        }
    }

    /// The name of the event in the output of `--json`.
    package var name: String {
        switch self {
        case .batchStarted: "batch.started"
        case .batchProgress: "batch.progress"
        case .batchWaiting: "batch.waiting"
        case .batchContinues: "batch.continues"
        case .batchFinished: "batch.finished"
        case .commanded: "batch.commanded"
        case .started: "job.started"
        case .progress: "job.progress"
        case .retrying: "job.retrying"
        case .restarted: "job.restarted"
        case .source: "job.source"
        case .authorized: "job.authorized"
        case .congestion: "job.congestion"
        case .waiting: "job.waiting"
        case .finished: "job.finished"
        case .kept: "job.kept"
        case .skipped: "job.skipped"
        case .cancelled: "job.cancelled"
        case .dropped: "job.dropped"
        case .failed: "job.failed"
        case .hook(let news):
            switch news.state {
            case .reported: "hook.told"
            case .retrying: "hook.retrying"
            case .failed: "hook.failed"
            }
        }
    }

    /// The job that the event is about; `nil` for a batch.
    package var job: String? {
        switch self {
        case .batchStarted, .batchProgress, .batchWaiting, .batchContinues, .batchFinished: nil
        case .started(let job, _), .progress(let job, _), .retrying(let job, _, _), .restarted(let job, _),
            .source(let job, _), .authorized(let job, _), .congestion(let job, _), .waiting(let job, _),
            .skipped(let job, _), .cancelled(let job), .dropped(let job):
            job
        case .commanded(_, let job): job
        case .finished(let receipt), .kept(let receipt): receipt.job
        case .failed(let failure): failure.job
        case .hook(let news): news.job
        }
    }

    package var isProgress: Bool {
        if case .progress = self { return true }
        return false
    }

    package var isAboutBatch: Bool {
        switch self {
        case .batchStarted, .batchProgress, .batchWaiting, .batchContinues, .batchFinished, .commanded: true
        case .hook(let news): news.job == nil
        default: false
        }
    }

    /// Whether the event is the end of a job, of which each job has one.
    package var isEnd: Bool {
        switch self {
        case .finished, .kept, .skipped, .cancelled, .dropped, .failed: true
        default: false
        }
    }
}

extension QueueEvent {
    /// The source and the destination of a job that has ended.
    package var places: (url: String, to: String)? {
        if let words = route?.words { return words }
        // A receipt that a program made without a route has only the requested URL and the file.
        let receipt: JobReceipt
        switch kind {
        case .finished(let finished): receipt = finished
        case .kept(let kept): receipt = kept
        default: return nil
        }
        return receipt.isUpload ? (receipt.finalURL, receipt.finalURL) : (receipt.finalURL, receipt.path)
    }
}
