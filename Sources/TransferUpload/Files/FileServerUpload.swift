import TransferCore

/// An upload to an FTP or SFTP server, put as requests of HTTP.
///
/// The file grows under a name of its own beside the destination (PUT), is asked for after every break (HEAD) and gets
/// only the rest (PATCH at the size that the server tells). When it has the source's size it's given its name (MOVE),
/// over whatever has it. Where the answer to that was lost, the server is asked which of the two names there is. Where
/// nobody may rename (an account that may only store), the file is sent once more, under its own name.
///
/// SFTP's WRITEs are under way side by side, and each is taken or refused by itself (draft-ietf-secsh-filexfer-02 §6.4): a
/// file may have a hole before its end when an upload breaks off. There the last bytes that the server has are read
/// after a break (GET) and compared with the source's, and only then gone on from, or taken for the whole.
///
/// | Answer | Meaning |
/// |---|---|
/// | HEAD 200 | so many bytes are there |
/// | HEAD 404 | nothing is there |
/// | HEAD 403, 200 without a length | what is there isn't known (``ReportedOffset``) |
/// | GET 206, 200 | the last bytes there |
/// | PATCH 409 | another number of bytes is there, which Upload-Offset tells |
/// | MOVE 409 | the server doesn't put a file in another's place: that one is deleted first |
public struct FileServerUpload: UploadDialogue {
    enum Phase: Sendable, Hashable {
        case ready
        /// May the account rename, may it delete (asked with a name that nothing has)? If not: is the name taken?
        case probing, lookingForTaken
        /// The server is asked what it has after a break.
        case looking
        /// The digest of the source's last bytes before that size is awaited.
        case digesting(Tail)
        /// Are the last bytes there the source's?
        case comparing(Tail, Checksum)
        /// The part is gone, or the server doesn't tell: is it the destination? `refusal`: the words of the refusal to name
        /// it, where the server doesn't tell.
        case lookingForName(FileServerState.Naming, refusal: String?)
        /// The part is gone, and the destination has its length: has it the source's bytes?
        case digestingName, comparingName(Checksum)
        case sending(from: Int64)
        /// All was taken; is it there?
        case verifying
        case naming
        /// Nobody may name it, in these words: the file is sent under its own name.
        case sendingUnderName(String)
        case verifyingUnderName
        /// The part wasn't given its name, in these words: is it there at all?
        case lookingForPart(String)
        /// No time tells an old file from the new one: is there one of that length?
        case lookingForOld
        /// A file that has the name already gives way.
        case clearing
        /// A part that is of no use is removed, for this reason.
        case discarding(String)
        /// The file has its name; what earlier attempts left is removed, as far as the server lets it.
        case sweeping([String], UploadResult)
        /// The same, and the time of its last modification is set.
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
    /// Bytes were sent in this attempt: to send them all again takes another one.
    var hasSentBody = false
    var abilities: AccountAbilities
    /// The upload under the file's own name, once that is the way.
    var inPlace: InPlaceUpload?
    /// The refusal of the hidden name, where that was the reason.
    var hiddenRefusal: TransferError?
    private var hasCleared = false

    /// - Parameters:
    ///   - url: `ftp`, `ftps` or `sftp`.
    ///   - state: What an earlier attempt saved.
    ///   - mark: Letters and digits that no other upload has. Only an upload that is new uses them.
    ///   - abilities: What is known of the account; what isn't is found out first.
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

    /// The same without anything but the file's own name, for servers that let nobody do more than store it.
    public static func inPlace(url: String, source: UploadSource, state: UploadState?) -> any UploadDialogue {
        InPlaceUpload(url: url, source: source, state: state)
    }

    public mutating func begin(now: Int64) -> [UploadAction] {
        if var upload = inPlace {
            defer { inPlace = upload }
            return upload.begin(now: now)
        }
        guard let state else { return prepare() }
        if let mismatch = state.mismatch(to: url, source) {
            // Another server isn't given what this one is told.
            let isHere = Origin(fileServerURL: state.part) == Origin(fileServerURL: url)
            return isHere ? discard(mismatch) : startAgain(mismatch)
        }
        return ask(.looking, "HEAD", state.part)
    }

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
            return replacePart("the server doesn't go on with the file (\(words(answer.head)))")
        case (.verifying, _) where reported != .unknown: return verify(reported, answer.head)
        case (.naming, 200..<300): return finish(state?.naming?.etag)
        case (.naming, 403):
            abilities.mayRename = false
            return [.learned(abilities)] + sendUnderName(words(answer.head))
        case (.sendingUnderName, 200..<300): return ask(.verifyingUnderName, "HEAD", url)
        case (.verifyingUnderName, _) where reported != .unknown: return verifyUnderName(reported)
        // FTP's 550 says both that there is no part and that it can't have the name.
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
        // The server has answered, and not with what it stands for: the way is taken that most accounts have.
        case .probing where error.code == .badResponse: return probed(nil)
        // SFTP's word for what has no other: renames that a server doesn't know, or won't do.
        case .naming where error.code == .badResponse, .clearing where error.code == .badResponse:
            return sendUnderName(error.message)
        case .sendingUnderName(let why) where error.code == .badResponse: return end(.fail(unnamed(why, error)))
        case .sending(let offset) where offset > 0 && !error.isTransient && error.code == .badResponse:
            // FTP's 500, 502 and 504 to APPE, and servers that don't tell how long a file is.
            state?.cannotAppend = true
            return discard("the server can't go on with a file (\(error.message))")
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
            return contradiction("the server doesn't stay with what it has of the file")
        }
        // Something was still on its way, which is looked at like the rest.
        guard size > 0 else { return discard("the server has nothing of the file any more") }
        return ask(.looking, "HEAD", state?.part ?? url)
    }

    mutating func verify(_ reported: ReportedOffset, _ head: ResponseHead) -> [UploadAction] {
        if reported == .gone {
            return mayHaveArrived(
                "the server took all of the file under its hidden name, and it was gone at once (where files are taken away at "
                    + "once, \(Self.inPlaceDoes) it under its own name)")
        }
        guard case .known(let size) = reported else {
            // A server that doesn't tell has said that it took all: whether it's there, its naming shows.
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

    /// Once the file was sent in this attempt, it's sent again by another one: that has its delay, and its limit.
    mutating func startAgain(_ reason: String) -> [UploadAction] {
        guard !hasSentBody, detours.take() else { return contradiction(reason) }
        return [.restart(reason), .confirmed(0)]
            + start(generation: (state?.generation ?? 0) + 1, mark: state?.mark ?? mark)
    }

    /// Begins anew under another name, and lets the part be: the server doesn't tell what it is.
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

    /// - Parameter etag: Of the part.
    mutating func name(_ etag: String?) -> [UploadAction] {
        guard let etag else { return ask(.lookingForOld, "HEAD", url) }
        return settle(.init(etag: etag))
    }

    private mutating func clear() -> [UploadAction] {
        hasCleared = true
        return ask(.clearing, "DELETE", url)
    }

    /// From now on a part that is gone may be the destination.
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

    /// The upload is complete, whatever comes of that.
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
