import TransferCore

/// An upload by the IETF's draft "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload), interop versions 8
/// and 6.
///
/// **Which version.** The newest goes first, and what the server says decides: an answer with another version's number
/// is asked again in that version. A server that answers the creation of an upload as one that doesn't know the version
/// (a success that leads nowhere, or a client error that isn't about credentials, limits or existence) is asked in the
/// next one. What was learnt is part of the state. A 104 with no or another version's number is ignored, as the draft
/// demands.
///
/// **What counts as complete.** A success that answers the last bytes. Where it was lost, `Upload-Complete: ?1` in the
/// answer to HEAD says that the target has answered, and not by what: version 8 is asked for that answer again (an append
/// of nothing). Where there is no telling, the upload counts as complete, and there is no body to report. A success without `Upload-Complete` after the last bytes is
/// asked about by HEAD in version 8; version 6 has none. An error with `Upload-Complete: ?1` is the target's own: the
/// upload is over and its URL forgotten.
///
/// **What is never sent twice.** Content for a method that isn't idempotent, once it may have been applied: a POST whose
/// answer was lost and that has no upload to ask about, or whose upload has gone since, fails as `mayHaveBeenSent`. A PUT
/// that left whole in ``ResumableOptions/Mode/upgrade``, without an offer, saves a ``ConfirmingPut``'s state instead.
public struct ResumableDialogue: UploadDialogue {
    let source: UploadSource
    let options: ResumableOptions

    var state: ResumableState
    var phase = Phase.idle
    var limits = UploadLimits()
    /// Whether the upload is begun by a request with all of the content.
    var sendsWhole: Bool
    /// Versions that were tried in vain.
    var refusedVersions: Set<Int64> = []
    /// Whether an earlier attempt's last bytes may have been applied, until the server has said what it has.
    var mayBeComplete: Bool
    /// Steps that led nowhere (conflicts, answers without progress); bounded, so that every attempt ends.
    var stalls = 0
    var restarts = 0
    var detours = Detours()

    /// When something was last heard or begun, in seconds since 1970.
    private(set) var clock: Int64 = 0
    /// The time at which the request that begins the upload was made.
    var creationBegan: Int64 = 0

    private var nextID = 1
    private var lastSaved: ResumableState

    static let stallLimit = 1
    static let restartLimit = 1
    /// The number of uploads, given up without a word of the server, that are remembered.
    static let replacedLimit = 8
    /// The number of times that the target's lost answer is asked for.
    static let replayLimit = 3

    /// - Parameter state: That of the last ``UploadAction/save(_:)``; anything else begins anew.
    public init(source: UploadSource, options: ResumableOptions, state saved: UploadState? = nil) {
        self.source = source
        self.options = options
        state = saved.flatMap { ResumableState($0) } ?? ResumableState(length: source.size)
        // A source that was refused as a whole before isn't sent so again.
        sendsWhole = options.mode == .upgrade && (state.cap ?? .max) >= source.size
        mayBeComplete = state.isEnding == true
        lastSaved = state
    }

    /// The one request under way, and what it's for.
    enum Phase: Sendable, Hashable {
        case idle
        /// `location`: where the upload is, once a 104 has said so.
        case creating(request: Int, isWhole: Bool, location: String?)
        case asking(request: Int, Question)
        case appending(request: Int, Range<Int64>, isLast: Bool)
        /// The upload is complete, as this answer to HEAD says, and what the target said isn't known.
        case hearingAgain(request: Int, UploadAnswer)
        /// An upload that can't be used any more is removed.
        case discarding(request: Int, Afterwards)
        case abandoning(request: Int, [String])
        /// The upload is complete; those before it are cancelled, as far as the server lets them be.
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

    /// Why the offset is asked for.
    enum Question: Sendable, Hashable {
        case offset
        /// Nothing but a Location says that there is an upload: that may be something else.
        case isUpload(UploadAnswer)
        /// The last bytes were answered by this success, which didn't say whether it is the target's.
        case isComplete(UploadAnswer)
    }

    enum Afterwards: Sendable, Hashable {
        case restart(String)
        case fail(TransferError)
    }

    public mutating func begin(now: Int64) -> [UploadAction] {
        clock = now
        // The successor of that upload never came about.
        if state.url == nil, let earlier = state.replaced?.popLast() { state.url = earlier }
        guard state.url != nil else { return create() }
        guard state.length == source.size else {
            return discard(then: .restart("the source has another length than the upload that was begun"))
        }
        // The draft's SHOULD NOT for what has outlived `max-age`; but what may be complete is asked about.
        if let expires = state.expires, expires <= now, !mayBeComplete {
            return restart("the upload has expired on the server")
        }
        return ask(.offset)
    }

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
        // An upload that can't be removed is left to expire.
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

    /// Saves the state, before everything that relies on it.
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

    /// Takes over what an answer tells about limits and lifetime.
    mutating func learn(_ fields: ResumableFields, now: Int64) {
        guard let reported = fields.limits else { return }
        limits.update(reported)
        guard let lifetime = reported.lifetime else { return }
        let expires = now + min(lifetime, 1 << 40)
        // The time is counted anew with every answer: a change by seconds isn't worth a write.
        if let known = state.expires, abs(known - expires) < 60 { return }
        state.expires = expires
    }

    /// Why the source can't be uploaded within the server's limits.
    var refusal: TransferError? {
        guard let largest = limits.maxSize, largest < source.size else { return nil }
        return TransferError(
            .invalidRequest, "the server takes at most \(CountText.bytes(largest)), and the file has \(source.size)")
    }

    /// Keeps in the state whether the last bytes are out, for methods where that forbids another try.
    mutating func noteEnding(_ isEnding: Bool) {
        state.isEnding = isEnding && !options.isIdempotent ? true : nil
    }

    /// Turns to the version that an answer names, if it's another one that wasn't tried in vain.
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

    /// The server speaks that version.
    mutating func hear(_ version: ResumableVersion) {
        state.version = version.number
        state.isVersionHeard = true
    }

    /// Notes what an error leaves open that came as the answer to the last bytes. Its sender may have been a gateway,
    /// behind which they were applied; or, in versions that don't tell, the target.
    mutating func noteError(_ answer: UploadAnswer, length: Int64) {
        let isOpen = answer.head.status >= 500 && answer.head.status != 501 && answer.sent >= length
        noteEnding(isOpen)
        state.isRefused = isOpen && !version.marksFinalAnswers ? true : nil
    }

    func statusError(_ answer: UploadAnswer, now: Int64) -> TransferError {
        StatusRule.error(answer.head, now: now)
    }
}
