import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferUpload

// Judgements of the queue about an upload's past and its answers: values, without a run.

enum UploadJudgement {
    /// Whether a server is asked for what it has before a body is sent again: it may have all of it.
    static func asksAfterLoss(_ spec: JobSpec, _ error: TransferError, sent: Int64, of size: Int64) -> Bool {
        guard case .upload(let work) = spec.work else { return false }
        return work.entry.confirmsLostAnswers && spec.method == "PUT"
            && DeliveryRule.mayHaveArrived(error, sent: sent, of: size)
    }
}

extension JobRecord {
    /// The state that a dialogue goes by where a process died that may have sent the whole file: the file has been the
    /// same since, as its bytes or its times tell.
    ///
    /// - Parameter isProven: Whether its bytes were read and are those that were to be sent.
    /// - Returns: `nil` when nobody can say, and where the state that is on record leads on.
    func stateAfterLoss(_ file: SourceFile, isProven: Bool) -> UploadState? {
        guard mayHaveBeenPut, isProven || (file.stamp.changed ?? 0) / 1_000_000 <= claimed else { return nil }
        return ConfirmingPut.state(began: claimed / 1000)
    }

    /// The same of a copy. Of a source that may have been another one then, only the bytes tell.
    func stateAfterLoss(_ source: inout UploadSource) -> UploadState? {
        guard mayHaveBeenPut else { return nil }
        source.mayHaveChanged = source.digest == nil && (source.labels?.modified ?? .max) > claimed / 1000
        return ConfirmingPut.state(began: claimed / 1000)
    }

    /// Whether a process died that may have sent the whole file by a PUT that nobody knows the answer to.
    var mayHaveBeenPut: Bool {
        guard case .upload(let work) = spec.work else { return false }
        return wasInterrupted && work.entry.confirmsLostAnswers && spec.method == "PUT" && upload?.knowsTheWay != true
    }

    /// The method of a job that mustn't be repeated, and whose file nobody would offer again.
    var unrepeatable: String? {
        guard watched == nil, spec.mustNotRepeat, !spec.failsIfChanged else { return nil }
        return spec.method
    }
}

extension TransferError {
    /// With a word on the folder that the destination of an upload may lack.
    func hinted(_ head: ResponseHead?, _ spec: JobSpec) -> TransferError {
        guard case .upload(let upload) = spec.work, let head, status == head.status,
            let hint = upload.entry.hint(head, spec.method, upload.url)
        else { return self }
        var error = self
        error.message += hint
        return error
    }

    /// - Parameter method: The server has taken it, and it isn't to be done again.
    static func changed(_ place: String, method: String?) -> TransferError {
        guard let method else {
            return TransferError(.sourceChanged, "\(place) changed while it was being sent", isTransient: true)
        }
        return TransferError(
            .mayHaveBeenSent,
            "\(place) changed while it was being sent, and the server has taken it; "
                + "\(method) isn't repeated, \(CommandPhrases.retry) sends it again")
    }
}

extension UploadEvent {
    /// Makes the end of an exchange an event of the dialogue that asked for it.
    ///
    /// - Parameters:
    ///   - digest: Of the answer's body.
    ///   - sums: Of the source's bytes that were sent.
    init(_ outcome: ExchangeOutcome, of request: Int, _ digest: Checksum?, sums: Checksum?) {
        switch outcome.receipt {
        case .failure(let error): self = .failed(request: request, error, sent: outcome.sent)
        case .success(let head):
            var answer = UploadAnswer(
                request: request, head: head, body: outcome.answer, url: outcome.finalURL, sent: outcome.sent)
            answer.digest = digest
            answer.roundTrip = outcome.metrics.roundTrip
            answer.sums = sums
            self = .answered(answer)
        }
    }
}

extension RunningJob {
    /// When the attempt began, in seconds since 1970.
    var began: Int64 { WallClock.seconds - (MonotonicTime.now - started).components.seconds }
}
