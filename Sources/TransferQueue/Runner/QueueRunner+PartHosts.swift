import TransferCore
import TransferEngine
import TransferUpload

// What the parts ask of the runner.

extension QueueRunner: UploadHost {
    func underWay(_ id: Int64) -> RunningJob? { running[id] }

    func serverAnswered(_ job: RunningJob) { scheduler.answered(job.candidate) }

    func cameFurther(_ job: RunningJob, from start: Int64, to position: Int64) -> Bool {
        memory.traces.cameFurther(job.candidate.id, from: start, to: position)
    }

    func count(_ job: RunningJob, moved bytes: Int64) {
        account(job, moved: bytes)
        batches[job.record.batch]?.settledBytes += bytes
    }

    func uploaded(_ job: RunningJob, _ file: SourceFile, _ result: TransferResult, _ digest: Checksum?) {
        scheduler.originAnswered(job.candidate.lane.origin)
        job.result = result
        leave(job, .done(receipt(job, path: file.path, bytes: file.size, digest: digest), file.stamp))
    }

    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool) {
        failed(job, error, bodyLeft: bodyLeft, left: .untouched, progressed: progressed)
    }

    func leave(_ job: RunningJob, for stop: RunningJob.Stop) { leave(job, for: stop, resume: nil) }
}
