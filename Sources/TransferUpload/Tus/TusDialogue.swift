import TransferCore

/// An upload by the tus resumable upload protocol 1.0.0 (2016-03-25), with its extensions creation,
/// creation-with-upload, expiration, checksum, concatenation and termination.
///
/// The server's offset is the truth: what an earlier attempt left is asked for with HEAD before a byte is sent, also
/// where its date of expiry has passed (a HEAD costs a round trip, a file sent again the file), and the upload is
/// complete when the server has said that its offset is the file's length.
public struct TusDialogue: UploadDialogue {
    let url: String
    let source: UploadSource
    let options: TusOptions
    /// The checksum that the server has agreed to.
    var checksum: DigestAlgorithm?
    /// `nil` before the server was asked.
    var features: TusFeatures?
    var pieces: [TusPiece] = []
    /// The upload that the pieces were joined to.
    var joined: String?
    /// The state that was saved last says that the upload may be complete without our knowing.
    var mayBeFinished = false
    /// Whether the last bytes of the one upload may have left, until the server has said what it has of it.
    var isEnding = false
    /// The most bytes that one request may carry, learnt from refusals (413).
    var cap: Int64?
    var phase = Phase.ready
    var detours = Detours()
    /// Uploads that have got successors.
    var sweep = TusSweep()
    /// Pieces that are sent at a time.
    private var width: Int
    private let earlier: TusState?
    private let isEarlierUnreadable: Bool
    private var lastID = 0

    enum Phase: Sendable {
        /// → `discovering`, `transferring`, `confirming`, `abandoning`, `ended`
        case ready
        /// OPTIONS → `transferring`, `ended`
        case discovering(request: Int)
        /// OPTIONS after a 413, for the words of the failure → `ended`
        case sizing(request: Int)
        /// Each piece has its own phase → `joining`, `sizing`, `ended`
        case transferring
        /// → `confirming`, `sizing`, `ended`
        case joining(request: Int)
        /// HEAD of the joined upload → `ended`, or all again
        case confirming(request: Int)
        /// → `ended`
        case abandoning(requests: Set<Int>, failure: TransferError?)
        case ended
    }

    /// - Parameters:
    ///   - url: Where uploads are created.
    ///   - state: What an earlier attempt saved; `nil` for the first.
    public init(url: String, source: UploadSource, options: TusOptions = TusOptions(), state: UploadState?) {
        self.url = url
        self.source = source
        self.options = options
        width = max(1, options.parallel ?? UploadSpread.initial)
        earlier = state.flatMap { TusState($0) }
        isEarlierUnreadable = state != nil && earlier == nil
    }

    public mutating func begin(now: Int64) -> [UploadAction] {
        do { return try start() } catch { return fail(error) }
    }

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

    /// While several pieces are sent.
    public var followsLink: Bool {
        guard options.parallel == nil, pieces.count > 1, case .transferring = phase else { return false }
        return true
    }

    public mutating func spread(over requests: Int, now: Int64) -> [UploadAction] {
        guard followsLink else { return [] }
        width = max(1, requests)
        return createMore()
    }

    /// A DELETE of each upload that was made (termination). A server that doesn't offer that frees them in its own time.
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
                "\(TusFailure.quoted(bad.name)) can't name metadata of tus: it is empty, or has blanks, commas or letters "
                    + "that aren't ASCII")
        }
        guard let earlier else {
            return (isEarlierUnreadable ? [.restart("what was saved of the upload can't be read")] : []) + createAnew()
        }
        if let reason = earlier.mismatch(to: url, source) { return [.restart(reason)] + createAnew() }
        pieces = earlier.pieces
        checksum = earlier.checksum
        joined = earlier.joined
        sweep.urls = earlier.replaced ?? []
        isEnding = earlier.isEnding == true
        cap = earlier.cap
        if earlier.mayBeFinished == true {
            // Said once: the failure saves that the next attempt, which somebody has to ask for, may send it again.
            mayBeFinished = true
            throw TusFailure.mayBeFinished(url)
        }
        if let joined { return confirm(joined) }
        guard pieces.contains(where: { $0.url != nil }) else { return createAnew() }
        phase = .transferring
        let made = pieces.indices.filter { pieces[$0].url != nil }
        return sweepReplaced() + made.flatMap { ask($0) } + createMore()
    }

    /// From the very start, whatever is on the server.
    mutating func createAnew() -> [UploadAction] {
        pieces = []
        joined = nil
        checksum = nil
        isEnding = false
        if options.needsFeatures(for: source), features == nil {
            // The version is left out as it may be what is asked for (tus 1.0.0, "OPTIONS").
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

    /// Creates the next pieces, as many as may be under way beside those that are.
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

    /// Ends everything that is under way.
    mutating func stopAll() -> [UploadAction] {
        let requests = pieces.compactMap(\.phase.request)
        for index in pieces.indices where pieces[index].phase != .complete { pieces[index].phase = .waiting }
        return requests.map { .stop(request: $0) }
    }

    mutating func finish(_ result: UploadResult) -> [UploadAction] {
        phase = .ended
        return sweep.finish(result).map { [.finish($0)] } ?? []
    }

    /// Terminates what has got a successor, which is written down by now.
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
            // Said once: an attempt that somebody asks for begins anew.
            joined = nil
            pieces = pieces.map { TusPiece($0.range) }
            actions.append(save())
        }
        phase = .ended
        return actions + [.fail(error)]
    }
}
