import TransferCore
import TransferEngine
import TransferJobs

/// How a job leaves ``QueueRunner/running``: every way out of it, with what is to be recorded.
enum JobOutcome {
    /// The transfer is complete.
    case done(JobReceipt, FileStamp)
    /// The file was complete before: nothing was transferred.
    case kept(JobReceipt, FileStamp?)
    /// The attempt came to nothing; the record has the attempts spent so far and the URL of the next one.
    ///
    /// - Parameter after: `.zero` starts it as soon as there is a slot.
    case retry(JobRecord, after: Duration, because: TransferError, resume: ResumeData?)
    /// Back to the queue without an attempt spent, for something that isn't the other side's fault.
    ///
    /// - Parameters:
    ///   - after: `nil` leaves it to the lane when it starts again.
    ///   - startsCountAnew: It came further than ever before.
    case wait(WaitReason, after: Duration?, resume: ResumeData?, startsCountAnew: Bool)
    /// Back to the queue as it was: the program ends, or somebody paused or changed it.
    case release(JobState, resume: ResumeData?)
    /// Back to the queue, for a process that watches the file's folder: this one can't reach the version.
    case leftToWatcher
    /// Somebody cancelled it.
    case cancelled
    /// A watched file's job has nothing to upload any more, as the file is gone or is another version.
    case replaced(isChanged: Bool)
    /// The job has failed for good.
    ///
    /// - Parameter host: The one to blame, if one is.
    case failed(TransferError, attempts: Int, host: String?)

    /// Whether the source or the destination has been dealt with for good: nothing that the attempt began is taken back.
    var isSettled: Bool {
        switch self {
        case .done, .kept, .replaced: true
        case .retry, .wait, .release, .leftToWatcher, .cancelled, .failed: false
        }
    }

    /// Whether the attempt was broken off from outside.
    var isByCommand: Bool {
        switch self {
        case .release, .cancelled: true
        case .done, .kept, .retry, .wait, .leftToWatcher, .replaced, .failed: false
        }
    }

    /// Whether the job found no descriptor.
    var lackedDescriptors: Bool {
        switch self {
        case .wait(.openFiles, _, _, _): true
        case .retry(_, _, let error, _), .failed(let error, _, _): OpenFiles.areLacking(error)
        case .done, .kept, .wait, .release, .leftToWatcher, .cancelled, .replaced: false
        }
    }

    /// For a job that somebody stopped.
    ///
    /// - Parameter resume: What the attempt left; `nil` where it left nothing new.
    init(_ stop: RunningJob.Stop, of job: RunningJob, host: String?, resume: ResumeData?) {
        switch stop {
        case .cancel: self = .cancelled
        case .release where job.mayHaveArrived:
            self = .failed(.stoppedWhileSending, attempts: job.record.attempts + 1, host: host)
        case .release(let state): self = .release(state, resume: resume ?? job.record.resume)
        }
    }
}
