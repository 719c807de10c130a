import CTransferLinux
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling
import TransferUpload

// Uploads of one request, which need a dialogue only if their answer is no receipt.
extension UploadDialogues {
    /// Judges the answer to an upload of one request.
    func answered(
        _ job: RunningJob, _ file: SourceFile, _ head: ResponseHead, _ outcome: ExchangeOutcome,
        on host: isolated some UploadHost
    ) {
        let answer = UploadAnswer(
            request: 0, head: head, body: outcome.answer, url: outcome.finalURL, sent: outcome.sent)
        guard case .upload(let upload) = job.record.spec.work else { return }
        switch upload.receipt.judge(answer, to: upload.url, now: WallClock.seconds) {
        case .stored: break
        case .refused(let error):
            return failed(job, error, outcome, on: host)
        case .accepted, .doubtful, .redirected: return lookFurther(job, upload, file, after: answer, on: host)
        }
        job.phase = .saving
        let id = job.candidate.id
        host.settleSource(job, .file(file)) { host, isSame in
            guard let job = host.underWay(id), case .saving = job.phase else { return }
            guard isSame else {
                return host.failed(
                    job, .changed(file.path, method: job.record.unrepeatable), bodyLeft: true, progressed: false)
            }
            Failpoint.reached(.uploadConfirmed)
            let result = TransferResult(
                status: head.status, finalURL: Redaction.url(outcome.finalURL), transferred: outcome.sent,
                validator: Validator(head)?.description,
                response: outcome.answer.isEmpty ? nil : String(decoding: outcome.answer, as: UTF8.self))
            host.uploaded(job, .file(file), result, nil)
        }
    }

    /// Starts a dialogue because the answer is not a receipt yet.
    private func lookFurther(
        _ job: RunningJob, _ upload: JobSpec.Upload, _ file: SourceFile, after answer: UploadAnswer,
        on host: isolated some UploadHost
    ) {
        let source = UploadSource(name: WatchedPath.name(file.path), size: file.size, digest: job.sending.digest)
        let dialogue = ReceiptDialogue(
            after: answer, rule: upload.receipt, url: upload.url, source: source, began: job.began)
        begin(dialogue, of: job, .file(file), job.record.upload, on: host)
    }

    /// Handles the failure of an upload of one request.
    ///
    /// The body of a PUT may have been sent whole while its answer was lost or came from a gateway. The server is then
    /// asked whether it has the body before it is sent again, and the error says that the body may have arrived.
    func failed(
        _ job: RunningJob, _ error: TransferError, _ outcome: ExchangeOutcome, on host: isolated some UploadHost
    ) {
        var error = error
        if case .upload(let file) = job.ready,
            UploadJudgement.asksAfterLoss(job.record.spec, error, sent: outcome.sent, of: file.size)
        {
            job.leave(UploadRecord(file, state: ConfirmingPut.state(began: job.began), confirmed: 0))
            error = DeliveryRule.worded(error, sent: outcome.sent, of: file.size)
        }
        error = host.refusedElsewhere(job, error, outcome).hinted(outcome.head, job.record.spec)
        host.failed(job, error, bodyLeft: outcome.bodyLeft, progressed: false)
    }
}
