import FoundationEssentials
import TransferCore

/// An upload to an FTP or SFTP server that lets nobody do more than store a file: one PUT of its own name.
///
/// No answer to a question is needed and nothing is given another name. So nothing can be gone on with: after a break the whole file
/// is sent again, over whatever the break has left. What that is, nobody can say, so that it's told with the failure.
///
/// | Answer | Meaning |
/// |---|---|
/// | PUT 2xx | the server has the file, as far as it says |
/// | another | the server's words; where an earlier attempt was broken off, what lies there isn't known |
struct InPlaceUpload: UploadDialogue {
    private let url: String
    private let source: UploadSource
    private var state: InPlaceState
    private var phase = Phase.ready
    private var lastID = 0

    private enum Phase: Sendable, Hashable {
        case ready, sending
        /// Hidden files of an attempt that wasn't made in place are removed, as far as the server lets it.
        case sweeping([String], UploadResult)
        case ended
    }

    /// - Parameters:
    ///   - url: `ftp`, `ftps` or `sftp`.
    ///   - state: What an earlier attempt saved, in place or not.
    init(url: String, source: UploadSource, state: UploadState?) {
        self.url = PartURL.withoutUser(url)
        self.source = source
        self.state = InPlaceState(state, to: self.url)
    }

    mutating func begin(now: Int64) -> [UploadAction] {
        guard PartURL.url(of: url, mark: "", generation: 0) != nil else {
            return end(.fail(TransferError(.badURL, "\(Redaction.url(url)) names no file")))
        }
        let again = state.left.map { [UploadAction.restart("\($0.words); it's sent in place, as a whole")] } ?? []
        // A process that is killed can't say any more that bytes were on their way.
        return again + [.confirmed(0), .save(state.leaving(.part).saved)] + send()
    }

    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
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

    /// The file under the name may be whole, and somebody's already: it stays.
    mutating func abandon(now: Int64) -> [UploadAction] {
        sweep(state.parts, UploadResult(url: url, status: state.parts.isEmpty ? 0 : 204))
    }

    private mutating func answered(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        if case .sweeping(let rest, let result) = phase { return sweep(rest, result) }
        if (200..<300).contains(answer.head.status) {
            return [.confirmed(source.size)]
                + sweep(state.parts, UploadResult(url: url, status: 201))
        }
        var error = StatusRule.error(answer.head, now: now)
        let reply = answer.head.value("Server-Reply").flatMap { $0.isEmpty ? nil : $0 } ?? error.message
        error.message =
            answer.head.status == 409
            ? "the folder isn't there (\(reply)); \"createFolders\": true\(CommandWords.also("--create-folders")) makes it"
            : "the server doesn't take the file (\(reply))"
        return failed(error, sent: answer.sent)
    }

    private mutating func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        if case .sweeping(_, let result) = phase { return end(.finish(result)) }
        if sent > 0 { state = state.leaving(sent >= source.size ? .all : .part) }
        // Nothing has left, in this attempt or an earlier one: nothing can be there.
        guard let left = state.left else { return [.save(state.saved)] + end(.fail(error)) }
        var error = error
        error.message += "; \(left.words)"
        if !error.isTransient, error.status != nil {
            error.code = .mayHaveBeenSent
            error.message += ": have it looked at or removed there before \(CommandWords.retry) sends the file again"
        }
        return [.save(state.saved)] + end(.fail(error))
    }

    private mutating func send() -> [UploadAction] {
        phase = .sending
        lastID += 1
        return [.send(UploadRequest(id: lastID, method: "PUT", url: url, body: .source(0..<source.size)))]
    }

    private mutating func sweep(_ parts: [String], _ result: UploadResult) -> [UploadAction] {
        guard let part = parts.first else { return end(.finish(result)) }
        phase = .sweeping(Array(parts.dropFirst()), result)
        lastID += 1
        return [.send(UploadRequest(id: lastID, method: "DELETE", url: part))]
    }

    private mutating func end(_ action: UploadAction) -> [UploadAction] {
        phase = .ended
        return [action]
    }
}

/// The state that an upload in place leaves to its next attempt.
struct InPlaceState: Codable, Hashable {
    enum Left: String, Codable {
        case part, all

        var words: String { "\(self == .all ? "all" : "a part") of the file may be there under its name already" }
    }

    private var version = 1
    /// Without secrets: another target is another upload.
    private var inPlace: String
    /// Bytes that attempts which were broken off may have left under the file's own name.
    private(set) var left: Left?
    /// Hidden files of attempts that weren't made in place.
    private(set) var parts: [String] = []

    static let kind = "inPlace"

    var saved: UploadState { UploadState(kind: Self.kind, canAsk: false, payload: text) }

    /// - Parameter saved: Of an attempt in place, or not.
    init(_ saved: UploadState?, to url: String) {
        inPlace = Redaction.url(url)
        guard let saved else { return }
        if saved.kind == Self.kind {
            if let known = InPlaceState(text: saved.payload), known.inPlace == inPlace { self = known }
        } else if let known = FileServerState(saved) {
            // Another server isn't told of them.
            let here = Origin(fileServerURL: url)
            parts = ([known.part] + (known.replaced ?? [])).filter { Origin(fileServerURL: $0) == here }
        }
    }

    /// - Returns: `nil` for what isn't a state of this form.
    init?(text: String) {
        guard let state = try? JSONDecoder().decode(InPlaceState.self, from: Data(text.utf8)), state.version == 1
        else { return nil }
        self = state
    }

    func leaving(_ left: Left) -> InPlaceState {
        var state = self
        if state.left != .all { state.left = left }
        return state
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings can always be encoded.
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    }
}
