import TransferCore

/// A PUT to a WebDAV server that makes the folders above the file where they are missing (MKCOL, RFC 4918 §9.3).
///
/// The file is sent first: most of the time the folders are there. A server that misses one answers 409 (RFC 4918
/// §9.7.1), some 404 or 403, nginx 500; then the folders are made from the innermost that can be made outwards and inwards
/// again, and the file is sent once more, by what sends it: a plain request, or one that the server is offered to resume.
/// A 500 where the folder is there, or can't be made, was about something else.
public struct FolderMakingPut: UploadDialogue {
    private enum State {
        case sending(afterFolders: Bool)
        /// The upload that the server had begun is being taken away before the folders are made.
        case removing(folder: String, refusal: UploadAnswer)
        /// The folders still to be made, the outermost first; the first one is being made.
        case descending([String])
        /// Looks for the innermost folder whose parent is there; those below it are still to be made. `refusal`: what the
        /// file was answered by.
        case ascending(folder: String, below: [String], refusal: UploadAnswer)
    }

    private let url: String
    private let method: String
    /// Sends the file.
    private var sender: any UploadDialogue
    /// Sends it from the start, once the folders are there.
    private let secondSender: any UploadDialogue
    private var state = State.sending(afterFolders: false)
    /// The request of the sender's that makes the file.
    private var creation: Int?
    /// Something of the sender's is kept for the next attempt.
    private var hasSaved: Bool
    private var lastID = Self.firstID

    /// Apart from the sender's own.
    private static let firstID = 1 << 30

    /// - Parameters:
    ///   - first: How the file is sent, or gone on with.
    ///   - second: How it's sent from its start.
    private init(
        url: String, method: String, first: any UploadDialogue, second: any UploadDialogue, hasSaved: Bool
    ) {
        self.url = url
        self.method = method
        sender = first
        secondSender = second
        self.hasSaved = hasSaved
    }

    /// - Parameters:
    ///   - upgrade: Whether the server is offered to resume the request where it breaks off (``ResumableDialogue``).
    ///   - saved: What an earlier attempt saved of that.
    public init(
        url: String, method: String = "PUT", source: UploadSource, upgrade: ResumableOptions? = nil,
        state saved: UploadState? = nil
    ) {
        func sender(_ state: UploadState?) -> any UploadDialogue {
            guard let upgrade else { return PlainPut(url: url, method: method, source: source) }
            return ResumableDialogue(source: source, options: upgrade, state: state)
        }
        self.init(url: url, method: method, first: sender(saved), second: sender(nil), hasSaved: saved != nil)
    }

    public mutating func begin(now: Int64) -> [UploadAction] { pass(sender.begin(now: now)) }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        guard case .sending(let afterFolders) = state else {
            if case .removing(let folder, let refusal) = state {
                // Any result will do: an upload that can't be taken away expires.
                switch event {
                case .failed, .answered: return [make(folder, below: [], after: refusal)]
                case .interim, .digested: return []
                }
            }
            switch event {
            case .failed(_, let error, _): return [.fail(error)]
            case .interim, .digested: return []
            case .answered(let answer): return answered(answer, now)
            }
        }
        if case .answered(let answer) = event, answer.request == creation, !afterFolders,
            [403, 404, 409, 500].contains(answer.head.status), let folder = Self.parent(of: url)
        {
            // An upload that the server had begun for it has been answered, and leads nowhere any more: it's taken away.
            guard hasSaved, let removal = removal(now) else { return [make(folder, below: [], after: answer)] }
            state = .removing(folder: folder, refusal: answer)
            return [.save(.nothing), .send(removal)]
        }
        return pass(sender.handle(event, now: now))
    }

    public mutating func abandon(now: Int64) -> [UploadAction] { sender.abandon(now: now) }

    private mutating func removal(_ now: Int64) -> UploadRequest? {
        sender.abandon(now: now).lazy.compactMap { if case .send(let request) = $0 { request } else { nil } }.first
    }

    /// The sender's own, of which that one is kept in mind whose answer tells of missing folders.
    private mutating func pass(_ actions: [UploadAction]) -> [UploadAction] {
        for action in actions {
            switch action {
            case .send(let request) where request.url == url && request.method == method: creation = request.id
            case .save: hasSaved = true
            default: break
            }
        }
        return actions
    }

    private mutating func answered(_ answer: UploadAnswer, _ now: Int64) -> [UploadAction] {
        let status = answer.head.status
        switch state {
        case .sending, .removing: return []
        case .ascending(let folder, let below, let refusal):
            // 405: it's there already. 409: its own parent isn't.
            if status == 409 || status == 404 {
                guard let parent = Self.parent(of: folder) else { return [failure(folder, answer, now)] }
                return [make(parent, below: [folder] + below, after: refusal)]
            }
            if refusal.head.status == 500, status != 201, below.isEmpty {
                state = .sending(afterFolders: true)
                return pass(sender.handle(.answered(refusal), now: now))
            }
            guard status == 201 || status == 200 || status == 405 else { return [failure(folder, answer, now)] }
            return descend(below, now)
        case .descending(let folders):
            guard status == 201 || status == 200 || status == 405 else { return [failure(folders[0], answer, now)] }
            return descend(Array(folders.dropFirst()), now)
        }
    }

    private mutating func make(_ folder: String, below: [String], after refusal: UploadAnswer) -> UploadAction {
        state = .ascending(folder: folder, below: below, refusal: refusal)
        return request("MKCOL", folder)
    }

    private mutating func descend(_ folders: [String], _ now: Int64) -> [UploadAction] {
        guard let next = folders.first else {
            state = .sending(afterFolders: true)
            sender = secondSender
            return pass(sender.begin(now: now))
        }
        state = .descending(folders)
        return [request("MKCOL", next)]
    }

    private func failure(_ folder: String, _ answer: UploadAnswer, _ now: Int64) -> UploadAction {
        var error = StatusRule.error(answer.head, now: now)
        error.message = "the folder \(Redaction.url(folder)) can't be made: \(error.message)"
        return .fail(error)
    }

    private mutating func request(_ method: String, _ url: String) -> UploadAction {
        lastID += 1
        return .send(UploadRequest(id: lastID, method: method, url: url))
    }

    /// The folder that a URL's path is in, with a slash at its end; `nil` for the root, which can't be made.
    static func parent(of url: String) -> String? {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        var path = url[..<end]
        if path.hasSuffix("/") { path = path.dropLast() }
        // https:, nothing, host, and the path's segments.
        let slashes = path.indices.filter { path[$0] == "/" }
        guard slashes.count > 3, let slash = slashes.last else { return nil }
        return String(path[...slash])
    }
}
