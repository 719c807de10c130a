import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferStore
import TransferUpload

// The stop of an upload whose dialogue is under way.
extension UploadDialogues {
    /// Stops the job: requests under way are cancelled, and the saved state is kept.
    func breakOff(_ job: RunningJob, _ stop: RunningJob.Stop, on host: isolated some UploadHost) {
        noteSent(job)
        host.leave(job, for: stop)
        end(job, on: host)
    }

    /// Passes the number of sent bytes of each body to a dialogue that is broken off. It later queries only bodies that
    /// may have arrived whole.
    private func noteSent(_ job: RunningJob) {
        guard var talk = job.talk, !talk.isSaving, !talk.legs.isEmpty else { return }
        let error = TransferError(.cancelled, "the transfer was stopped", isTransient: true)
        var left: UploadState?
        for (request, leg) in talk.legs.sorted(by: { $0.key < $1.key }) {
            let event = UploadEvent.failed(request: request, error, sent: leg.meter.sent)
            for action in talk.dialogue.handle(event, now: WallClock.seconds) {
                switch action {
                case .save(let state): left = state
                // The state that is left is that of a reported failure, so the stop has to report it.
                case .fail(let error) where error.code == .mayHaveBeenSent: job.sending.mayBeComplete = true
                default: break
                }
            }
        }
        guard let left, left != talk.state else { return }
        job.talk?.state = left
        if let record = job.talk?.record { job.leave(record) }
    }
}
