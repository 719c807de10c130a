import TransferCore

/// An upload to an FTP or SFTP server, put as requests of HTTP.
///
/// The file grows under a name of its own beside the destination (PUT), is asked for after every break (HEAD) and gets
/// only the rest (PATCH at the size that the server tells). When it has the source's size it's given its name (MOVE),
/// over whatever has it. Where the answer to that was lost, the server is asked which of the two names there is.
///
/// | Answer | Meaning |
/// |---|---|
/// | HEAD 200 | so many bytes are there |
/// | HEAD 404 | nothing is there |
/// | PATCH 409 | another number of bytes is there, which Upload-Offset tells |
/// | MOVE 409 | the server doesn't put a file in another's place: that one is deleted first |
public struct FileServerUpload: UploadDialogue {
    enum Phase: Sendable, Hashable {
        case ready
        /// What is there after a break?
        case looking
        /// The part is gone: is it the destination?
        case lookingForName(FileServerState.Naming)
        case sending(from: Int64)
        /// All was taken; is it there?
        case verifying
        case naming
        /// It wasn't given its name, in these words: is it there at all?
        case lookingForPart(String)
        /// Where no time tells an old file from the new one: is there one of that length?
        case lookingForOld
        /// What has the name already gives way.
        case clearing
        /// A part that is of no use is removed, for this reason.
        case discarding(String)
        case abandoning
        case ended
    }

    /// Within one attempt, so that a server which contradicts itself is left in peace for a while.
    private static let mostDetours = 3

    let url: String
    let source: UploadSource
    var state: FileServerState?
    var phase = Phase.ready
    private let mark: String
    private var lastID = 0
    private var detours = 0
    private var hasCleared = false

    /// - Parameters:
    ///   - url: `ftp`, `ftps` or `sftp`.
    ///   - state: What an earlier attempt saved.
    ///   - mark: Letters and digits that no other upload has. Only an upload that is new uses them.
    public init(url: String, source: UploadSource, state: String?, mark: String) {
        self.url = PartURL.withoutUser(url)
        self.source = source
        self.state = state.flatMap { FileServerState($0) }
        self.mark = mark
    }

    public mutating func begin(now: Int64) -> [UploadAction] {
        guard let state else { return start(generation: 0, mark: mark) }
        if let mismatch = state.mismatch(to: url, source) {
            // Another server isn't given what this one is told.
            let isHere = Origin(fileServerURL: state.part) == Origin(fileServerURL: url)
            return isHere ? discard(mismatch) : startAgain(mismatch)
        }
        return ask(.looking, "HEAD", state.part)
    }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .interim, .digested: return []
        case .failed(let request, let error, let sent):
            guard request == lastID else { return [] }
            return failed(error, sent: sent)
        case .answered(let answer):
            guard answer.request == lastID else { return [] }
            return answered(answer, now: now)
        }
    }

    public mutating func abandon(now: Int64) -> [UploadAction] {
        guard let state else { return end(.finish(UploadResult(url: url, status: 0))) }
        return ask(.abandoning, "DELETE", state.part)
    }

    // MARK: Answers

    private mutating func answered(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        let status = answer.head.status
        switch (phase, status) {
        case (.looking, 200): return found(answer.head)
        case (.looking, 404): return missing()
        case (.lookingForName(let naming), 200) where isOurs(answer.head, naming): return finish(naming.etag)
        case (.lookingForName, 200), (.lookingForName, 404):
            return startAgain("the server has lost what it had of the file")
        case (.sending, 200..<300): return ask(.verifying, "HEAD", state?.part ?? url)
        case (.sending(let offset), 409) where offset > 0: return conflict(answer.head)
        case (.verifying, 200): return verify(answer.head)
        case (.verifying, 404): return discard("the file was gone when it had been sent")
        case (.naming, 200..<300): return finish(state?.naming?.etag)
        // FTP's 550 says both that there is no part and that it can't have the name.
        case (.naming, 404): return ask(.lookingForPart(words(answer.head)), "HEAD", state?.part ?? url)
        // libcurl may have asked twice, where a connection went in between.
        case (.lookingForPart, 404): return ask(.lookingForName(state?.naming ?? .init(etag: nil)), "HEAD", url)
        case (.lookingForPart(let words), 200):
            return end(.fail(TransferError(.badResponse, Self.unnamed(words), isTransient: false)))
        case (.naming, 409) where !hasCleared: return clear()
        case (.lookingForOld, 200) where [nil, source.size].contains(answer.head.contentLength): return clear()
        case (.lookingForOld, 200), (.lookingForOld, 404): return settle(.init(etag: nil))
        case (.clearing, 200..<300), (.clearing, 404): return settle(state?.naming ?? .init(etag: nil))
        case (.discarding(let reason), 200..<300), (.discarding(let reason), 404): return startAgain(reason)
        case (.abandoning, 200..<300), (.abandoning, 404):
            return end(.finish(UploadResult(url: url, status: status)))
        default: return end(.fail(refusal(answer.head, now: now)))
        }
    }

    private mutating func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        switch phase {
        case .sending(let offset) where offset > 0 && !error.isTransient && error.code == .badResponse:
            // FTP's 500, 502 and 504 to APPE, and servers that don't tell how long a file is.
            state?.cannotAppend = true
            return discard("the server can't go on with a file (\(error.message))")
        case .sending where sent > 0 && state?.hasSent != true:
            state?.hasSent = true
            return save() + end(.fail(error))
        default: return end(.fail(error))
        }
    }

    /// What the server has of the file, after a break.
    private mutating func found(_ head: ResponseHead) -> [UploadAction] {
        guard let size = head.contentLength else {
            return discard("the server doesn't tell how much it has of the file")
        }
        if size > source.size { return discard(tooMuch(size)) }
        if size == source.size { return [.confirmed(size)] + name(head) }
        if state?.cannotAppend == true, size > 0 { return discard("the server can't go on with a file") }
        return rest(from: size)
    }

    /// There is no part: the server has lost it, or has given it its name.
    private mutating func missing() -> [UploadAction] {
        guard let state else { return start(generation: 0, mark: mark) }
        if let naming = state.naming { return ask(.lookingForName(naming), "HEAD", url) }
        guard state.hasSent == true else { return start(generation: state.generation + 1, mark: state.mark) }
        return startAgain("the server has nothing of the file any more")
    }

    private func isOurs(_ head: ResponseHead, _ naming: FileServerState.Naming) -> Bool {
        guard head.contentLength == source.size else { return false }
        guard let etag = naming.etag, let found = head.value("ETag") else { return true }
        return etag == found
    }

    private mutating func conflict(_ head: ResponseHead) -> [UploadAction] {
        guard let size = head.value("Upload-Offset").flatMap({ Int64($0) }), takeDetour() else {
            return contradiction("the server doesn't stay with what it has of the file")
        }
        if size > source.size { return discard(tooMuch(size)) }
        if size == source.size { return [.confirmed(size)] + ask(.verifying, "HEAD", state?.part ?? url) }
        return size == 0 ? discard("the server has nothing of the file any more") : rest(from: size)
    }

    private mutating func verify(_ head: ResponseHead) -> [UploadAction] {
        // One that tells no lengths has said that it took all.
        guard let size = head.contentLength, size != source.size else {
            return [.confirmed(source.size)] + name(head)
        }
        if size > source.size { return discard(tooMuch(size)) }
        return [.confirmed(size)] + contradiction("the server has \(size) of \(source.size) bytes that it took")
    }

    // MARK: Steps

    private mutating func start(generation: Int, mark: String) -> [UploadAction] {
        guard let part = PartURL.url(of: url, mark: mark, generation: generation) else {
            return end(.fail(TransferError(.badURL, "\(Redaction.url(url)) names no file")))
        }
        let cannotAppend = state?.cannotAppend
        var made = FileServerState(to: url, source: source, part: part, mark: mark, generation: generation)
        made.cannotAppend = cannotAppend
        state = made
        return save() + ask(.sending(from: 0), "PUT", part, body: .source(0..<source.size))
    }

    private mutating func startAgain(_ reason: String) -> [UploadAction] {
        guard takeDetour() else { return contradiction(reason) }
        return [.restart(reason), .confirmed(0)]
            + start(generation: (state?.generation ?? 0) + 1, mark: state?.mark ?? mark)
    }

    private mutating func discard(_ reason: String) -> [UploadAction] {
        guard let part = state?.part else { return startAgain(reason) }
        return ask(.discarding(reason), "DELETE", part)
    }

    private mutating func rest(from offset: Int64) -> [UploadAction] {
        let part = state?.part ?? url
        guard offset > 0 else { return ask(.sending(from: 0), "PUT", part, body: .source(0..<source.size)) }
        let isKnown = state?.hasSent == true
        state?.hasSent = true
        return [.confirmed(offset)] + (isKnown ? [] : save())
            + ask(
                .sending(from: offset), "PATCH", part, [HeaderField("Upload-Offset", "\(offset)")],
                body: .source(offset..<source.size))
    }

    /// - Parameter head: Of the part.
    private mutating func name(_ head: ResponseHead) -> [UploadAction] {
        guard let etag = head.value("ETag") else { return ask(.lookingForOld, "HEAD", url) }
        return settle(.init(etag: etag))
    }

    private mutating func clear() -> [UploadAction] {
        hasCleared = true
        return ask(.clearing, "DELETE", url)
    }

    /// From now on a part that is gone may be the destination.
    private mutating func settle(_ naming: FileServerState.Naming) -> [UploadAction] {
        guard state?.naming != naming else { return move() }
        state?.naming = naming
        return save() + move()
    }

    private mutating func move() -> [UploadAction] {
        ask(.naming, "MOVE", state?.part ?? url, [HeaderField("Destination", url)])
    }

    private mutating func finish(_ etag: String?) -> [UploadAction] {
        end(.finish(UploadResult(url: url, status: 201, validator: etag)))
    }

    // MARK: Helpers of all phases

    private mutating func ask(
        _ phase: Phase, _ method: String, _ url: String, _ headers: [HeaderField] = [],
        body: UploadRequest.Body = .none
    ) -> [UploadAction] {
        self.phase = phase
        lastID += 1
        return [.send(UploadRequest(id: lastID, method: method, url: url, headers: headers, body: body))]
    }

    private func save() -> [UploadAction] { state.map { [.save($0.text)] } ?? [] }

    private mutating func end(_ action: UploadAction) -> [UploadAction] {
        phase = .ended
        return [action]
    }

    private mutating func takeDetour() -> Bool {
        detours += 1
        return detours <= Self.mostDetours
    }

    private mutating func contradiction(_ words: String) -> [UploadAction] {
        end(.fail(TransferError(.badResponse, words, isTransient: true)))
    }

    private func tooMuch(_ size: Int64) -> String {
        "the server has \(size) bytes of a file with \(source.size)"
    }

    private static func unnamed(_ words: String) -> String {
        "the server doesn't give the file its name (\(words)); a folder of that name would be in its way"
    }

    /// The server's own, where it said something.
    private func words(_ head: ResponseHead) -> String {
        head.value("Server-Reply").flatMap { $0.isEmpty ? nil : $0 } ?? StatusRule.error(head, now: 0).message
    }

    /// With the server's own words: the statuses are made out of them.
    private func refusal(_ head: ResponseHead, now: Int64) -> TransferError {
        var error = StatusRule.error(head, now: now)
        let words = words(head)
        switch (phase, head.status) {
        case (.sending(from: 0), 409):
            error.message = "the folder isn't there (\(words)); \"createFolders\": true (--create-folders) makes it"
        case (.sending, _): error.message = "the server doesn't take the file (\(words))"
        case (.naming, _), (.clearing, _): error.message = Self.unnamed(words)
        case (.discarding, _), (.abandoning, _):
            error.message = "the server doesn't remove what it has of the file (\(words))"
        default: error.message = "the server doesn't tell what it has of the file (\(words))"
        }
        return error
    }
}
