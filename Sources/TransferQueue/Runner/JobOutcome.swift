import TransferCore
import TransferEngine
import TransferJobs

/// The way in which a job leaves ``QueueRunner/running``, with the values to record.
enum JobOutcome {
    /// The transfer is complete.
    case done(JobReceipt, FileStamp)
    /// The file was complete before: nothing was transferred.
    case kept(JobReceipt, FileStamp?)
    /// The attempt failed and another follows. The record has the attempts spent so far and the URL of the next
    /// attempt.
    ///
    /// - Parameter after: The delay; `.zero` starts the next attempt as soon as there is a slot.
    case retry(JobRecord, after: Duration, because: TransferError, resume: ResumeData?)
    /// The job returns to the queue without a spent attempt, because the other side is not at fault.
    ///
    /// - Parameters:
    ///   - after: The delay; `nil` leaves the time of the next start to the lane.
    ///   - startsCountAnew: Whether the count of attempts begins anew, since the job came further than ever before.
    case wait(WaitReason, after: Duration?, resume: ResumeData?, startsCountAnew: Bool)
    /// The job returns to the queue unchanged: the program ends, or a user paused or changed the job.
    case release(JobState, resume: ResumeData?)
    /// The job returns to the queue for a process that watches the file's folder, because this process cannot reach the
    /// version.
    case leftToWatcher
    /// A user cancelled the job.
    case cancelled
    /// The job of a watched file has nothing left to upload: the file is gone or is another version.
    case replaced(isChanged: Bool)
    /// The job has failed for good.
    ///
    /// - Parameter host: The host to blame, if there is one.
    case failed(TransferError, attempts: Int, host: String?)

    /// Whether the source or destination is settled for good, so that nothing the attempt began is undone.
    var isSettled: Bool {
        switch self {
        case .done, .kept, .replaced: true
        case .retry, .wait, .release, .leftToWatcher, .cancelled, .failed: false
        }
    }

    /// Whether the attempt was broken off by a command.
    var isByCommand: Bool {
        switch self {
        case .release, .cancelled: true
        case .done, .kept, .retry, .wait, .leftToWatcher, .replaced, .failed: false
        }
    }

    /// Whether the job lacked a file descriptor.
    var lackedDescriptors: Bool {
        switch self {
        case .wait(.openFiles, _, _, _): true
        case .retry(_, _, let error, _), .failed(let error, _, _): OpenFiles.areLacking(error)
        case .done, .kept, .wait, .release, .leftToWatcher, .cancelled, .replaced: false
        }
    }

    /// Creates the departure of a job that was stopped.
    ///
    /// - Parameter resume: The state that the attempt left; `nil` if it left nothing new.
    init(_ stop: RunningJob.Stop, of job: RunningJob, host: String?, resume: ResumeData?) {
        switch stop {
        case .cancel: self = .cancelled
        case .release where job.mayHaveArrived:
            self = .failed(.stoppedWhileSending, attempts: job.record.attempts + 1, host: host)
        case .release(let state): self = .release(state, resume: resume ?? job.record.resume)
        }
    }
}
