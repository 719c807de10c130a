import TransferCore

/// An upload to an FTP or SFTP server, expressed as HTTP requests.
///
/// The file grows under a separate name beside the destination (PUT). After every break it is queried (HEAD) and gets
/// only the rest (PATCH at the size that the server reports). When it has the source's size it gets its name (MOVE),
/// over any existing file. Where the answer to that was lost, the server is asked which of the two names exists. An
/// account that may only store files cannot rename: the file is then sent again under its own name.
///
/// SFTP's WRITEs are under way concurrently, and each is accepted or refused separately (draft-ietf-secsh-filexfer-02
/// §6.4). Thus a file may have a hole before its end when an upload breaks off. After a break the last bytes on the
/// server are read (GET) and compared with the source's. Only then the upload continues from them, or counts as whole.
///
/// | Answer | Meaning |
/// |---|---|
/// | HEAD 200 | that many bytes exist |
/// | HEAD 404 | no file exists |
/// | HEAD 403, 200 without a length | the existing bytes are unknown (``ReportedOffset``) |
/// | GET 206, 200 | the last existing bytes |
/// | PATCH 409 | another number of bytes exists, which Upload-Offset reports |
/// | MOVE 409 | the server does not replace an existing file: that one is deleted first |
public struct FileServerUpload: UploadDialogue {
    enum Phase: Sendable, Hashable {
        case ready
        /// The server is asked, with an unused name, whether the account may rename and delete; if not, whether the
        /// name is taken.
        case probing, lookingForTaken
        /// The server is asked for the part after a break.
        case looking
        /// The digest of the source's last bytes before that size is awaited.
        case digesting(Tail)
        /// The last bytes on the server are compared with the source's.
        case comparing(Tail, Checksum)
        /// The part is missing or unknown, and the destination is queried in its place.
        ///
        /// `refusal` is the message that refused the renaming, where the server does not report the part.
        case lookingForName(FileServerState.Naming, refusal: String?)
        /// The part is missing, and the destination has its length: its bytes are compared with the source's.
        case digestingName, comparingName(Checksum)
        case sending(from: Int64)
        /// All bytes were accepted, and the server is asked for their length.
        case verifying
        case naming
        /// The renaming was refused by this message: the file is sent under its own name.
        case sendingUnderName(String)
        case verifyingUnderName
        /// The renaming was refused by this message, and the server is asked whether the part exists.
        case lookingForPart(String)
        /// No time distinguishes an old file from the new one: the server is asked for a file of that length.
        case lookingForOld
        /// An existing file with the name is deleted.
        case clearing
        /// A useless part is removed, for this reason.
        case discarding(String)
        /// The file has its name, and the leftovers of earlier attempts are removed, if the server allows that.
        case sweeping([String], UploadResult)
        /// The file has its name, and the time of its last modification is set.
        case settingTime(UploadResult)
        case abandoning([String])
        case ended
    }

    let url: String
    let source: UploadSource
    var state: FileServerState?
    var phase = Phase.ready
    let mark: String
    private(set) var lastID = 0
    var detours = Detours(most: 3)
    /// Whether bytes were sent in this attempt: only another attempt may send all of them again.
    var hasSentBody = false
    var abilities: AccountAbilities
    /// The upload under the file's own name, once that method is chosen.
    var inPlace: InPlaceUpload?
    /// The refusal of the hidden name, where that was the reason.
    var hiddenRefusal: TransferError?
    private var hasCleared = false

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - url: The destination: `ftp`, `ftps` or `sftp`.
    ///   - state: The state that an earlier attempt saved.
    ///   - mark: A unique text of letters and digits, which only a new upload uses.
    ///   - abilities: The known abilities of the account; unknown ones are detected first.
    public init(
        url: String, source: UploadSource, state: UploadState?, mark: String, abilities: AccountAbilities = .all
    ) {
        self.url = PartURL.withoutUser(url)
        self.source = source
        self.state = state.flatMap { FileServerState($0) }
        self.mark = mark
        self.abilities = abilities
        if let state, state.kind == InPlaceState.kind {
            inPlace = InPlaceUpload(url: url, source: source, state: state, isChecked: true)
        }
    }

    /// Creates an upload that uses only the file's own name, for servers that only allow storing it.
    public static func inPlace(url: String, source: UploadSource, state: UploadState?) -> any UploadDialogue {
        InPlaceUpload(url: url, source: source, state: state)
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        if var upload = inPlace {
            defer { inPlace = upload }
            return upload.begin(now: now)
        }
        guard let state else { return prepare() }
        if let mismatch = state.mismatch(to: url, source) {
            // Another server is not sent the paths of this one.
            let isHere = Origin(fileServerURL: state.part) == Origin(fileServerURL: url)
            return isHere ? discard(mismatch) : startAgain(mismatch)
        }
        return ask(.looking, "HEAD", state.part)
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        if let inPlace { return handleInPlace(inPlace, event, now) }
        switch event {
        case .interim: return []
        case .digested(_, let checksum):
            return digested(checksum)
        case .failed(let request, let error, let sent):
            guard request == lastID else { return [] }
            return failed(error, sent: sent)
        case .answered(let answer):
            guard answer.request == lastID else { return [] }
            return answered(answer, now: now)
        }
    }

    /// Returns the actions that remove the part from the server.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        if var upload = inPlace {
            defer { inPlace = upload }
            return upload.abandon(now: now)
        }
        guard let state else { return end(.finish(UploadResult(url: url, status: 0))) }
        return abandon([state.part] + (state.replaced ?? []), 204)
    }

    // MARK: Answers

    private mutating func answered(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        let status = answer.head.status
        let error = refusal(answer.head, now: now)
        let reported = ReportedOffset(status: status, offset: answer.head.contentLength, isPassing: error.isTransient)
        switch (phase, status) {
        case (.probing, _): return probed(answer.head)
        case (.lookingForTaken, _) where reported != .unknown: return lookedForTaken(reported)
        case (.looking, _): return looked(reported, answer.head, error)
        case (.comparing(let tail, let ours), _): return compared(tail, ours, answer, error)
        case (.lookingForName(let naming, _), 200) where isOurs(answer.head, naming):
            return naming.isByBytes == true ? digestName() : finish(naming.etag)
        case (.comparingName(let ours), _): return comparedName(ours, answer, error)
        case (.lookingForName(_, let refusal), _) where reported != .unknown: return unnamed(refusal)
        case (.sending(let offset), 200..<300): return taken(from: offset, answer.head)
        case (.sending(from: 0), 403) where answer.sent == 0: return storeUnrefused(error)
        case (.sending(let offset), 409) where offset > 0: return conflict(answer.head)
        case (.sending(let offset), 403) where offset > 0, (.sending(let offset), 404) where offset > 0:
            state?.cannotAppend = true
            return replacePart("the server does not continue the file (\(words(answer.head)))")
        case (.verifying, _) where reported != .unknown: return verify(reported, answer.head)
        case (.naming, 200..<300): return finish(state?.naming?.etag)
        case (.naming, 403):
            abilities.mayRename = false
            return [.learned(abilities)] + sendUnderName(words(answer.head))
        case (.sendingUnderName, 200..<300): return ask(.verifyingUnderName, "HEAD", url)
        case (.verifyingUnderName, _) where reported != .unknown: return verifyUnderName(reported)
        // FTP's 550 means that the part is missing as well as that it cannot have the name.
        case (.naming, 404): return ask(.lookingForPart(words(answer.head)), "HEAD", state?.part ?? url)
        case (.lookingForPart(let words), _) where reported != .unknown: return lookedForPart(reported, status, words)
        case (.naming, 409) where !hasCleared: return clear()
        case (.lookingForOld, 200) where [nil, source.size].contains(answer.head.contentLength): return clear()
        case (.lookingForOld, _) where reported != .unknown: return settle(.init(etag: nil))
        case (.clearing, 200..<300), (.clearing, 404): return settle(state?.naming ?? .init(etag: nil))
        case (.clearing, 403):
            abilities.mayDelete = false
            return [.learned(abilities)] + sendUnderName(words(answer.head))
        case (.discarding(let reason), 200..<300), (.discarding(let reason), 404): return startAgain(reason)
        case (.discarding(let reason), 403): return writeOver(reason)
        case (.discarding(let reason), _) where !error.isTransient: return replacePart(reason)
        case (.sweeping(let rest, let result), _): return sweep(rest, result)
        case (.settingTime(let result), _): return end(.finish(result))
        case (.abandoning(let rest), 200..<300), (.abandoning(let rest), 404): return abandon(rest, status)
        default: return end(.fail(error))
        }
    }

    private mutating func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        if case .sending = phase, sent > 0 { hasSentBody = true }
        switch phase {
        case .sweeping(_, let result), .settingTime(let result): return end(.finish(result))
        // The server answered the commands with another failure: the method of most accounts is used.
        case .probing where error.code == .badResponse: return probed(nil)
        // SFTP's failure without a specific code may be a renaming that the server does not support or refuses.
        case .naming where error.code == .badResponse, .clearing where error.code == .badResponse:
            return sendUnderName(error.message)
        case .sendingUnderName(let why) where error.code == .badResponse: return end(.fail(unnamed(why, error)))
        case .sending(let offset) where offset > 0 && !error.isTransient && error.code == .badResponse:
            // The failure may be FTP's 500, 502 or 504 to APPE, or that of a server that does not report a file's
            // length.
            state?.cannotAppend = true
            return discard("the server cannot continue a file (\(error.message))")
        case .sending(let offset) where sent > 0 || source.size == 0:
            let before = state
            if DeliveryRule.mayHaveArrived(error, sent: sent, of: source.size - offset) { state?.hasSentAll = true }
            if sent > 0 { state?.hasSent = true }
            return (state == before ? [] : save()) + end(.fail(error))
        default: return end(.fail(error))
        }
    }

    private mutating func conflict(_ head: ResponseHead) -> [UploadAction] {
        guard let size = head.value("Upload-Offset").flatMap({ Int64($0) }), detours.take() else {
            return contradiction("the server does not stay with what it has of the file")
        }
        // More bytes had still been under way; the part is queried again.
        guard size > 0 else { return discard("the server no longer has anything of the file") }
        return ask(.looking, "HEAD", state?.part ?? url)
    }

    mutating func verify(_ reported: ReportedOffset, _ head: ResponseHead) -> [UploadAction] {
        if reported == .gone {
            return mayHaveArrived(
                "the server took all of the file under its hidden name, and it was gone at once (where files are taken away at "
                    + "once, \(Self.inPlaceDoes) it under its own name)")
        }
        guard case .known(let size) = reported else {
            // A server that does not report the length has accepted all bytes: the renaming shows whether they exist.
            return [.confirmed(source.size)] + settle(.init(etag: nil, isUnreported: true))
        }
        if size == source.size { return [.confirmed(size)] + name(head.value("ETag")) }
        if size > source.size { return discard(tooMuch(size)) }
        return [.confirmed(size)]
            + contradiction(
                "the server has \(size) of "
                    + "\(CountText.bytes(source.size)) that it took")
    }

    // MARK: Steps

    mutating func start(generation: Int, mark: String) -> [UploadAction] {
        guard let part = PartURL.url(of: url, mark: mark, generation: generation) else {
            return end(.fail(TransferError(.badURL, "\(Redaction.url(url)) names no file")))
        }
        let cannotAppend = state?.cannotAppend
        var made = FileServerState(to: url, source: source, part: part, mark: mark, generation: generation)
        made.cannotAppend = cannotAppend
        made.replaced = state?.replaced
        state = made
        return save() + ask(.sending(from: 0), "PUT", part, storeFields, body: .source(0..<source.size))
    }

    /// Begins anew, unless the file was sent in this attempt: then another attempt sends it, after its delay and within
    /// its limit.
    mutating func startAgain(_ reason: String) -> [UploadAction] {
        guard !hasSentBody, detours.take() else { return contradiction(reason) }
        return [.restart(reason), .confirmed(0)]
            + start(generation: (state?.generation ?? 0) + 1, mark: state?.mark ?? mark)
    }

    /// Begins anew under another name, and leaves the part alone: the server does not report what it is.
    mutating func replacePart(_ reason: String) -> [UploadAction] {
        if var state {
            state.replaced = Array(((state.replaced ?? []) + [state.part]).suffix(Self.mostReplaced))
            self.state = state
        }
        return startAgain(reason)
    }

    private static let mostReplaced = 16

    mutating func discard(_ reason: String) -> [UploadAction] {
        guard let part = state?.part else { return startAgain(reason) }
        return ask(.discarding(reason), "DELETE", part)
    }

    mutating func rest(from offset: Int64) -> [UploadAction] {
        let part = state?.part ?? url
        guard offset > 0 else { return ask(.sending(from: 0), "PUT", part, body: .source(0..<source.size)) }
        let isKnown = state?.hasSent == true
        state?.hasSent = true
        return [.confirmed(offset)] + (isKnown ? [] : save())
            + ask(
                .sending(from: offset), "PATCH", part, [HeaderField("Upload-Offset", "\(offset)")],
                body: .source(offset..<source.size))
    }

    /// Gives the part its name.
    ///
    /// - Parameter etag: The ETag of the part.
    mutating func name(_ etag: String?) -> [UploadAction] {
        guard let etag else { return ask(.lookingForOld, "HEAD", url) }
        return settle(.init(etag: etag))
    }

    private mutating func clear() -> [UploadAction] {
        hasCleared = true
        return ask(.clearing, "DELETE", url)
    }

    /// Records the renaming: from now on a missing part may be the destination.
    mutating func settle(_ naming: FileServerState.Naming) -> [UploadAction] {
        guard state?.naming != naming else { return move() }
        state?.naming = naming
        return save() + move()
    }

    mutating func move() -> [UploadAction] {
        ask(.naming, "MOVE", state?.part ?? url, [HeaderField("Destination", url)])
    }

    mutating func finish(_ etag: String?) -> [UploadAction] {
        let here = Origin(fileServerURL: url)
        return sweep(
            (state?.replaced ?? []).filter { Origin(fileServerURL: $0) == here },
            UploadResult(url: url, status: 201, validator: etag))
    }

    /// Removes leftover parts. The upload is complete, regardless of the result.
    private mutating func sweep(_ parts: [String], _ result: UploadResult) -> [UploadAction] {
        guard let part = parts.first else { return complete(result) }
        return ask(.sweeping(Array(parts.dropFirst()), result), "DELETE", part)
    }

    private mutating func abandon(_ parts: [String], _ status: Int) -> [UploadAction] {
        guard let part = parts.first else { return end(.finish(UploadResult(url: url, status: status))) }
        return ask(.abandoning(Array(parts.dropFirst())), "DELETE", part)
    }

    // MARK: Helpers of all phases

    mutating func ask(
        _ phase: Phase, _ method: String, _ url: String, _ headers: [HeaderField] = [],
        body: UploadRequest.Body = .none, digests: DigestAlgorithm? = nil
    ) -> [UploadAction] {
        self.phase = phase
        lastID += 1
        var request = UploadRequest(id: lastID, method: method, url: url, headers: headers, body: body)
        request.digests = digests
        return [.send(request)]
    }

    func save() -> [UploadAction] { state.map { [.save($0.saved)] } ?? [] }

    mutating func end(_ action: UploadAction) -> [UploadAction] {
        phase = .ended
        return [action]
    }

    mutating func contradiction(_ words: String) -> [UploadAction] {
        end(.fail(TransferError(.badResponse, words, isTransient: true)))
    }
}
