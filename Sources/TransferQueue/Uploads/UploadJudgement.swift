import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferUpload

// Judgements about an upload's past and its answers: plain values, independent of a run.

enum UploadJudgement {
    /// Returns whether the server is asked for its bytes before a body is sent again, because it may have all of it.
    static func asksAfterLoss(_ spec: JobSpec, _ error: TransferError, sent: Int64, of size: Int64) -> Bool {
        guard case .upload(let work) = spec.work else { return false }
        return work.entry.confirmsLostAnswers && spec.method == "PUT"
            && DeliveryRule.isWorthAsking(error, sent: sent, of: size)
    }
}

extension JobRecord {
    /// Returns the state for a dialogue after the death of a process that may have sent the whole file. The file must
    /// be unchanged since, by its bytes or its times.
    ///
    /// - Parameter isProven: Whether its bytes were read and are the intended ones.
    /// - Returns: `nil` if this is unknown, or if the recorded state suffices.
    func stateAfterLoss(_ file: SourceFile, isProven: Bool) -> UploadState? {
        guard mayHaveBeenPut, isProven || (file.stamp.changed ?? 0) / 1_000_000 <= claimed else { return nil }
        return ConfirmingPut.state(began: claimed / 1000)
    }

    /// Returns the state for a copy after the death of a process. If the source may have changed, only its bytes
    /// decide.
    func stateAfterLoss(_ source: inout UploadSource) -> UploadState? {
        guard mayHaveBeenPut else { return nil }
        source.mayHaveChanged = source.digest == nil && (source.labels?.modified ?? .max) > claimed / 1000
        return ConfirmingPut.state(began: claimed / 1000)
    }

    /// Whether a process died that may have sent the whole file by a PUT with an unknown answer.
    var mayHaveBeenPut: Bool {
        guard case .upload(let work) = spec.work else { return false }
        return wasInterrupted && work.entry.confirmsLostAnswers && spec.method == "PUT" && upload?.knowsTheWay != true
    }

    /// The method of a job that must not be repeated, and whose file is not offered again; `nil` for other jobs.
    var unrepeatable: String? {
        guard watched == nil, spec.mustNotRepeat, !spec.failsIfChanged else { return nil }
        return spec.method
    }
}

extension TransferError {
    /// Returns the error with a hint about a folder that the upload's destination may lack.
    func hinted(_ head: ResponseHead?, _ spec: JobSpec) -> TransferError {
        guard case .upload(let upload) = spec.work, let head, status == head.status,
            let hint = upload.entry.hint(head, spec.method, upload.url)
        else { return self }
        var error = self
        error.message += hint
        return error
    }

    /// Returns the error of an attempt that only asked the server, with the fate of the body that an earlier attempt sent:
    /// the last error of a job is often all that is read.
    ///
    /// - Parameters:
    ///   - record: The record with which the attempt ended.
    ///   - sent: The bytes of a body that this attempt sent.
    func afterEarlierAttempt(_ record: UploadRecord?, sent: Int64) -> TransferError {
        guard sent == 0, code != .mayHaveBeenSent, let state = record?.state,
            state.mayBeComplete || ConfirmingPut.isState(state)
        else { return self }
        var error = self
        error.message += "; an earlier attempt sent the whole body, which may have arrived"
        return error
    }

    /// Returns the error for a source that changed during its upload.
    ///
    /// - Parameter method: The method, if the server has accepted the request and it must not be repeated.
    static func changed(_ place: String, method: String?) -> TransferError {
        guard let method else {
            return TransferError(.sourceChanged, "\(place) changed while it was being sent", isTransient: true)
        }
        return TransferError(
            .mayHaveBeenSent,
            "\(place) changed while it was being sent, and the server has taken it; "
                + "\(method) is not repeated, \(CommandPhrases.retry) sends it again")
    }
}

extension UploadEvent {
    /// Creates the event from the end of an exchange that the dialogue requested.
    ///
    /// - Parameters:
    ///   - digest: The digest of the answer's body.
    ///   - sums: The digest of the source's bytes that were sent.
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
    /// The time when the attempt began, in seconds since 1970.
    var began: Int64 { WallClock.seconds - (MonotonicTime.now - started).components.seconds }
}
