import TransferCore

/// An upload by the tus resumable upload protocol 1.0.0 (2016-03-25).
///
/// The supported extensions are creation, creation-with-upload, expiration, checksum, concatenation and termination.
///
/// The server's offset decides. An earlier attempt's upload is queried with HEAD before a byte is sent, even after its
/// date of expiry: a HEAD costs a round trip, a repetition the whole file. The upload is complete when the server has
/// reported the file's length as its offset.
public struct TusDialogue: UploadDialogue {
    let url: String
    let source: UploadSource
    let options: TusOptions
    /// The negotiated checksum algorithm.
    var checksum: DigestAlgorithm?
    /// The features of the server; `nil` before it was asked.
    var features: TusFeatures?
    var pieces: [TusPiece] = []
    /// The URL of the upload to which the pieces were joined.
    var joined: String?
    /// Whether the last saved state says that the upload may be complete without a received answer.
    var mayBeFinished = false
    /// Whether the last bytes of the only upload may have left, until the server has reported its offset.
    var isEnding = false
    /// The most bytes that one request may carry, learnt from refusals (413).
    var cap: Int64?
    var phase = Phase.ready
    var detours = Detours()
    /// The uploads that have successors.
    var sweep = TusSweep()
    /// The number of pieces that are sent concurrently.
    private var width: Int
    private let earlier: TusState?
    private let isEarlierUnreadable: Bool
    private var lastID = 0

    enum Phase: Sendable {
        /// The initial phase → `discovering`, `transferring`, `confirming`, `abandoning`, `ended`
        case ready
        /// The answer to OPTIONS is awaited → `transferring`, `ended`
        case discovering(request: Int)
        /// The answer to OPTIONS after a 413 is awaited, for the message of the failure → `ended`
        case sizing(request: Int)
        /// The pieces are transferred, each with its own phase → `joining`, `sizing`, `ended`
        case transferring
        /// The answer to the joining is awaited → `confirming`, `sizing`, `ended`
        case joining(request: Int)
        /// The answer to HEAD of the joined upload is awaited → `ended`, or a new beginning
        case confirming(request: Int)
        /// The uploads are terminated → `ended`
        case abandoning(requests: Set<Int>, failure: TransferError?)
        case ended
    }

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - url: The URL at which uploads are created.
    ///   - state: The state that an earlier attempt saved; `nil` for the first.
    public init(url: String, source: UploadSource, options: TusOptions = TusOptions(), state: UploadState?) {
        self.url = url
        self.source = source
        self.options = options
        width = max(1, options.parallel ?? UploadSpread.initial)
        earlier = state.flatMap { TusState($0) }
        isEarlierUnreadable = state != nil && earlier == nil
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        do { return try start() } catch { return fail(error) }
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        do {
            switch event {
            case .interim: return []
            case .answered(let answer):
                let isOver = !TusFailure.refusal(answer.head, now: now).isTransient
                if sweep.ended(answer.request, isOver: isOver) { return swept() }
                return try answered(answer, now: now)
            case .failed(let request, let error, let sent):
                if sweep.ended(request, isOver: false) { return swept() }
                return try failed(request, error, sent: sent)
            case .digested(let id, let checksum): return try digested(id, checksum)
            }
        } catch {
            return fail(error)
        }
    }

    /// Whether several pieces are being sent whose number follows the link.
    public var followsLink: Bool {
        guard options.parallel == nil, pieces.count > 1, case .transferring = phase else { return false }
        return true
    }

    /// Sets the number of concurrent pieces.
    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] {
        guard followsLink else { return [] }
        width = max(1, requests)
        return createMore()
    }

    /// Returns a DELETE of each created upload (termination). A server without that extension frees them in its own
    /// time.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        let urls =
            (earlier?.parts.compactMap(\.url) ?? []) + [earlier?.joined].compactMap { $0 } + (earlier?.replaced ?? [])
        let requests = urls.map { request("DELETE", $0) }
        guard !requests.isEmpty else { return finish(UploadResult(url: url, status: 204)) }
        phase = .abandoning(requests: Set(requests.map(\.id)), failure: nil)
        return requests.map { .send($0) }
    }

    private mutating func start() throws(TransferError) -> [UploadAction] {
        if let bad = options.metadata.first(where: { !$0.isValid }) {
            throw TransferError(
                .invalidRequest,
                "\(TusFailure.quoted(bad.name)) cannot name metadata of tus: it is empty, or has blanks, commas or letters "
                    + "that are not ASCII")
        }
        guard let earlier else {
            return (isEarlierUnreadable ? [.restart("what was saved of the upload cannot be read")] : []) + createAnew()
        }
        if let reason = earlier.mismatch(to: url, source) { return [.restart(reason)] + createAnew() }
        pieces = earlier.pieces
        checksum = earlier.checksum
        joined = earlier.joined
        sweep.urls = earlier.replaced ?? []
        isEnding = earlier.isEnding == true
        cap = earlier.cap
        if earlier.mayBeFinished == true {
            // The failure is reported once: its saved state lets the next attempt, which a user must request, send the
            // file again.
            mayBeFinished = true
            throw TusFailure.mayBeFinished(url)
        }
        if let joined { return confirm(joined) }
        guard pieces.contains(where: { $0.url != nil }) else { return createAnew() }
        phase = .transferring
        let made = pieces.indices.filter { pieces[$0].url != nil }
        return sweepReplaced() + made.flatMap { ask($0) } + createMore()
    }

    /// Begins anew, regardless of the uploads on the server.
    mutating func createAnew() -> [UploadAction] {
        pieces = []
        joined = nil
        checksum = nil
        isEnding = false
        if options.needsFeatures(for: source), features == nil {
            // The version field is omitted, as the version may be the question (tus 1.0.0, "OPTIONS").
            let request = UploadRequest(id: nextID(), method: "OPTIONS", url: url)
            phase = .discovering(request: request.id)
            return [.send(request)]
        }
        return createAll()
    }

    mutating func createAll() -> [UploadAction] {
        if let features {
            checksum = options.checksum.flatMap { wanted in
                features.extensions.contains("checksum") && features.checksums.contains(wanted.rawValue) ? wanted : nil
            }
        }
        pieces = layout().map { TusPiece($0) }
        phase = .transferring
        return createMore()
    }

    /// Creates the next pieces, up to the number of concurrent ones.
    mutating func createMore() -> [UploadAction] {
        let busy = pieces.count { $0.phase != .waiting && $0.phase != .complete }
        let next = pieces.indices.filter { pieces[$0].url == nil && pieces[$0].phase == .waiting }
        return next.prefix(max(0, width - busy)).flatMap { create($0) }
    }

    private func layout() -> [Range<Int64>] {
        let isOffered = features?.extensions.contains("concatenation") == true
        let most = isOffered ? options.parts(of: source) : 1
        let count = max(1, min(most, source.size / max(1, options.minimumPartSize)))
        let (length, rest) = source.size.quotientAndRemainder(dividingBy: count)
        var end: Int64 = 0
        return (0..<count).map { index in
            let start = end
            end += length + (index < rest ? 1 : 0)
            return start..<end
        }
    }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func request(
        _ method: String, _ url: String, _ fields: [HeaderField] = [], body: UploadRequest.Body = .none
    ) -> UploadRequest {
        UploadRequest(
            id: nextID(), method: method, url: url, headers: [HeaderField("Tus-Resumable", TusFields.version)] + fields,
            body: body, ownersFields: method == "POST" && body == .none ? .all : .apartFromContent)
    }

    func save() -> UploadAction {
        let state = TusState(
            to: url, source: source, pieces: pieces, checksum: checksum, joined: joined, mayBeFinished: mayBeFinished,
            isEnding: isEnding, cap: cap, replaced: sweep.urls)
        return .save(state.saved)
    }

    /// Stops all requests under way.
    mutating func stopAll() -> [UploadAction] {
        let requests = pieces.compactMap(\.phase.request)
        for index in pieces.indices where pieces[index].phase != .complete { pieces[index].phase = .waiting }
        return requests.map { .stop(request: $0) }
    }

    mutating func finish(_ result: UploadResult) -> [UploadAction] {
        phase = .ended
        return sweep.finish(result).map { [.finish($0)] } ?? []
    }

    /// Terminates the uploads that have successors, which are recorded by now.
    mutating func sweepReplaced() -> [UploadAction] {
        guard pieces.allSatisfy({ $0.url != nil }) else { return [] }
        return sweep.waiting.map { url in
            let request = request("DELETE", url)
            sweep.began(request.id, url)
            return .send(request)
        }
    }

    private mutating func swept() -> [UploadAction] {
        guard sweep.isIdle else { return [] }
        if let result = sweep.result { return [.finish(result)] }
        return [save()]
    }

    mutating func fail(_ error: TransferError) -> [UploadAction] {
        var actions = stopAll() + sweep.stop().map { .stop(request: $0) }
        if mayBeFinished {
            mayBeFinished = false
            actions.append(save())
        } else if error.code == .mayHaveBeenSent {
            // The failure is reported once: an attempt that a user requests begins anew.
            joined = nil
            pieces = pieces.map { TusPiece($0.range) }
            actions.append(save())
        }
        phase = .ended
        return actions + [.fail(error)]
    }
}
