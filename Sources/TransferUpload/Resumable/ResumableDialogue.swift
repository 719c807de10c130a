import TransferCore

/// An upload by the IETF's draft "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload), interop versions 8
/// and 6.
///
/// **The version.** The newest version is tried first, and the server's answers decide. An answer with another
/// version's number makes the request be repeated in that version. A server may answer a creation as if it did not know
/// the version: by a success that leads nowhere, or a client error that is not about credentials, limits or existence.
/// The server is then asked in the next version. The result is part of the state. A 104 with no or another version's
/// number is ignored, as the draft demands.
///
/// **Completeness.** A success that answers the last bytes completes the upload. Where it was lost,
/// `Upload-Complete: ?1` in the answer to HEAD means that the target has answered, but not how: version 8 is asked for
/// that answer again (an append of nothing). Where it is unavailable, the upload counts as complete, without a body to
/// report. A success without `Upload-Complete` after the last bytes leads to a HEAD in version 8; version 6 never has
/// that field. An error with `Upload-Complete: ?1` is the target's own: the upload is over and its URL forgotten.
///
/// **Content that is never sent twice.** Content for a method that is not idempotent is not repeated once it may have
/// been applied. A POST whose answer was lost fails as `mayHaveBeenSent` if it has no upload to ask about, or if its
/// upload is gone since. A PUT that left whole in ``ResumableOptions/Mode/upgrade``, without an offer, saves a
/// ``ConfirmingPut``'s state instead.
public struct ResumableDialogue: UploadDialogue {
    let source: UploadSource
    let options: ResumableOptions

    var state: ResumableState
    var phase = Phase.idle
    var limits = UploadLimits()
    /// Whether the upload begins by a request with the whole content.
    var sendsWhole: Bool
    /// The versions that were tried without success.
    var refusedVersions: Set<Int64> = []
    /// Whether an earlier attempt's last bytes may have been applied, until the server has reported its state.
    var mayBeComplete: Bool
    /// The steps without progress (conflicts, answers with an old offset); their bound ends every attempt.
    var stalls = 0
    var restarts = 0
    var detours = Detours()

    /// The time of the last event or action, in seconds since 1970.
    private(set) var clock: Int64 = 0
    /// The time at which the request that begins the upload was made.
    var creationBegan: Int64 = 0

    private var nextID = 1
    private var lastSaved: ResumableState

    static let stallLimit = 1
    static let restartLimit = 1
    /// The most remembered uploads that were replaced without a report of the server.
    static let replacedLimit = 8
    /// The number of requests for the target's lost answer.
    static let replayLimit = 3

    /// Creates an upload.
    ///
    /// - Parameter state: The state of the last ``UploadAction/save(_:)``; any other state begins anew.
    public init(source: UploadSource, options: ResumableOptions, state saved: UploadState? = nil) {
        self.source = source
        self.options = options
        state = saved.flatMap { ResumableState($0) } ?? ResumableState(length: source.size)
        // A source that was refused as a whole before is not sent so again.
        sendsWhole = options.mode == .upgrade && (state.cap ?? .max) >= source.size
        mayBeComplete = state.isEnding == true
        lastSaved = state
    }

    /// The purpose of the one request under way.
    enum Phase: Sendable, Hashable {
        case idle
        /// The upload is being created. `location` is its URL, once a 104 has reported it.
        case creating(request: Int, isWhole: Bool, location: String?)
        case asking(request: Int, Question)
        case appending(request: Int, Range<Int64>, isLast: Bool)
        /// The upload is complete by this answer to HEAD, and the target's own answer is unknown.
        case hearingAgain(request: Int, UploadAnswer)
        /// An unusable upload is removed.
        case discarding(request: Int, Afterwards)
        case abandoning(request: Int, [String])
        /// The upload is complete; the earlier ones are cancelled, if the server allows that.
        case sweeping(request: Int, [String], UploadResult)
        case ended

        var request: Int? {
            switch self {
            case .idle, .ended: nil
            case .creating(let request, _, _), .asking(let request, _), .appending(let request, _, _),
                .hearingAgain(let request, _), .discarding(let request, _), .abandoning(let request, _),
                .sweeping(let request, _, _):
                request
            }
        }
    }

    /// The reason of the question for the offset.
    enum Question: Sendable, Hashable {
        case offset
        /// Only a Location suggests that there is an upload: it may be another resource.
        case isUpload(UploadAnswer)
        /// The last bytes were answered by this success, which did not say whether it is the target's.
        case isComplete(UploadAnswer)
    }

    enum Afterwards: Sendable, Hashable {
        case restart(String)
        case fail(TransferError)
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        clock = now
        // The successor of that upload was never created.
        if state.url == nil, let earlier = state.replaced?.popLast() { state.url = earlier }
        guard state.url != nil else { return create() }
        guard state.length == source.size else {
            return discard(then: .restart("the source has another length than the upload that was begun"))
        }
        // The draft has a SHOULD NOT for an upload beyond `max-age`. But one that may be complete is asked about.
        if let expires = state.expires, expires <= now, !mayBeComplete {
            return restart("the upload has expired on the server")
        }
        return ask(.offset)
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        clock = now
        switch event {
        case .digested: return []
        case .interim(let request, let head, let url):
            guard request == phase.request, head.status == 104 else { return [] }
            return supported(head, from: url ?? options.url, now: now)
        case .answered(let answer):
            guard answer.request == phase.request else { return [] }
            return answered(answer, now: now)
        case .failed(let request, let error, let sent):
            guard request == phase.request else { return [] }
            return failed(error, sent: sent, now: now)
        }
    }

    /// Returns the actions that cancel the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        abandonNext((state.replaced ?? []) + [state.url].compactMap { $0 }, status: 204)
    }

    private mutating func answered(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        let fields = ResumableFields(answer.head, version: version)
        switch phase {
        case .creating(_, let isWhole, let location):
            return created(answer, fields, isWhole: isWhole, location: location, now: now)
        case .asking(_, let question): return reported(answer, fields, question, now: now)
        case .appending(_, let range, let isLast):
            return appended(answer, fields, range, isLast: isLast, now: now)
        case .hearingAgain(_, let reported): return heardAgain(answer, fields, reported, now: now)
        case .discarding(_, let afterwards): return discarded(afterwards)
        case .abandoning(_, let rest): return abandoned(answer, rest, now: now)
        case .sweeping(_, let rest, let result): return sweep(rest, result)
        case .idle, .ended: return []
        }
    }

    private mutating func failed(_ error: TransferError, sent: Int64, now: Int64) -> [UploadAction] {
        switch phase {
        case .creating(_, let isWhole, let location):
            return notCreated(error, sent: sent, isWhole: isWhole, location: location)
        case .appending(_, let range, let isLast):
            if isLast { noteEnding(sent >= range.upperBound - range.lowerBound) }
            return fail(error)
        // An upload that cannot be removed is left to expire.
        case .discarding(_, let afterwards): return discarded(afterwards)
        case .sweeping(_, _, let result):
            phase = .ended
            return [.finish(result)]
        case .asking, .hearingAgain, .abandoning: return fail(error)
        case .idle, .ended: return []
        }
    }
}

// MARK: - What every step needs

extension ResumableDialogue {
    var version: ResumableVersion { ResumableVersion.numbered(state.version) ?? ResumableVersion.table[0] }

    /// The job's URL without its user information, for results.
    var reportedTarget: String { Redaction.url(options.url) }

    mutating func request(
        _ method: String, _ url: String, _ headers: [HeaderField] = [], body: UploadRequest.Body = .none,
        ownersFields: OwnersFields = .apartFromContent
    ) -> UploadRequest {
        defer { nextID += 1 }
        let mark = HeaderField("Upload-Draft-Interop-Version", String(version.number))
        return UploadRequest(
            id: nextID, method: method, url: url, headers: [mark] + headers, body: body, ownersFields: ownersFields)
    }

    /// Saves the state, before all actions that rely on it.
    mutating func save() -> [UploadAction] {
        guard state != lastSaved else { return [] }
        lastSaved = state
        return [.save(state.saved)]
    }

    mutating func send(_ request: UploadRequest, _ next: Phase) -> [UploadAction] {
        phase = next
        return save() + [.send(request)]
    }

    mutating func fail(_ error: TransferError) -> [UploadAction] {
        phase = .ended
        return save() + [.fail(error)]
    }

    /// Takes over the limits and the lifetime in an answer.
    mutating func learn(_ fields: ResumableFields, now: Int64) {
        guard let reported = fields.limits else { return }
        limits.update(reported)
        guard let lifetime = reported.lifetime else { return }
        let expires = now + min(lifetime, 1 << 40)
        // Every answer counts the time anew: a change by seconds is not worth a write.
        if let known = state.expires, abs(known - expires) < 60 { return }
        state.expires = expires
    }

    /// The error of a source that exceeds the server's limits.
    var refusal: TransferError? {
        guard let largest = limits.maxSize, largest < source.size else { return nil }
        return TransferError(
            .invalidRequest, "the server takes at most \(CountText.bytes(largest)), and the file has \(source.size)")
    }

    /// Records whether the last bytes have left, for methods where that forbids another try.
    mutating func noteEnding(_ isEnding: Bool) {
        state.isEnding = isEnding && !options.isIdempotent ? true : nil
    }

    /// Switches to the version that an answer names, if that version was not tried without success.
    ///
    /// - Returns: Whether the request is worth repeating.
    mutating func turn(to reported: Int64?) -> Bool {
        guard let other = ResumableVersion.numbered(reported), other != version,
            !refusedVersions.contains(other.number)
        else { return false }
        refusedVersions.insert(version.number)
        hear(other)
        return true
    }

    /// Records that the server speaks that version.
    mutating func hear(_ version: ResumableVersion) {
        state.version = version.number
        state.isVersionHeard = true
    }

    /// Records the ambiguity of an error that answered the last bytes.
    ///
    /// The error may come from a gateway, behind which the bytes were applied. In versions without a mark it may also
    /// come from the target.
    mutating func noteError(_ answer: UploadAnswer, length: Int64) {
        let isOpen = answer.head.status >= 500 && answer.head.status != 501 && answer.sent >= length
        noteEnding(isOpen)
        state.isRefused = isOpen && !version.marksFinalAnswers ? true : nil
    }

    func statusError(_ answer: UploadAnswer, now: Int64) -> TransferError {
        StatusRule.error(answer.head, now: now)
    }
}
