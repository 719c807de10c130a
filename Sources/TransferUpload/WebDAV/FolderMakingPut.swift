import TransferCore

/// A PUT to a WebDAV server that makes missing folders above the file (MKCOL, RFC 4918 §9.3).
///
/// The file is sent first, as the folders usually exist. A server answers a missing folder by 409 (RFC 4918 §9.7.1),
/// some by 404 or 403, and nginx by 500. Then the folders are tried from the innermost outwards until one can be made,
/// and the inner ones follow. The file is sent again by the same kind of request, a plain or a resumable one. A 500 had
/// another reason if the folder exists, or cannot be made.
public struct FolderMakingPut: UploadDialogue {
    private enum State {
        case sending(afterFolders: Bool)
        /// The upload that the server had begun is being removed before the folders are made.
        case removing(folder: String, refusal: UploadAnswer)
        /// The folders still to be made, the outermost first; the first one is being made.
        case descending([String])
        /// The innermost folder whose parent exists is sought; the folders below it are still to be made.
        ///
        /// `refusal` is the answer to the file.
        case ascending(folder: String, below: [String], refusal: UploadAnswer)
    }

    private let url: String
    private let method: String
    /// The dialogue that sends the file.
    private var sender: any UploadDialogue
    /// The dialogue that sends the file from its start, once the folders exist.
    private let secondSender: any UploadDialogue
    private var state = State.sending(afterFolders: false)
    /// The sender's request that makes the file.
    private var creation: Int?
    /// Whether a state of the sender is stored for the next attempt.
    private var hasSaved: Bool
    private var lastID = Self.firstID

    /// The first number of a request, above the sender's own.
    private static let firstID = 1 << 30

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - first: The dialogue that sends the file, or continues it.
    ///   - second: The dialogue that sends the file from its start.
    private init(
        url: String, method: String, first: any UploadDialogue, second: any UploadDialogue, hasSaved: Bool
    ) {
        self.url = url
        self.method = method
        sender = first
        secondSender = second
        self.hasSaved = hasSaved
    }

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - upgrade: The options of an offer to resume the request where it breaks off (``ResumableDialogue``); `nil`
    ///     makes no offer.
    ///   - saved: The state that an earlier attempt saved.
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

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] { pass(sender.begin(now: now)) }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        guard case .sending(let afterFolders) = state else {
            if case .removing(let folder, let refusal) = state {
                // The result does not matter: an upload that cannot be removed expires.
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
            // The upload that the server had begun for the request is answered and useless now, so it is removed.
            guard hasSaved, let removal = removal(now) else { return [make(folder, below: [], after: answer)] }
            state = .removing(folder: folder, refusal: answer)
            return [.save(.nothing), .send(removal)]
        }
        return pass(sender.handle(event, now: now))
    }

    /// Returns the actions that free the server of the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] { sender.abandon(now: now) }

    private mutating func removal(_ now: Int64) -> UploadRequest? {
        sender.abandon(now: now).lazy.compactMap { if case .send(let request) = $0 { request } else { nil } }.first
    }

    /// Passes the sender's actions on, and notes the request whose answer may report missing folders.
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
            // 405 means that the folder exists, 409 that its own parent is missing.
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
        error.message = "the folder \(Redaction.url(folder)) cannot be made: \(error.message)"
        return .fail(error)
    }

    private mutating func request(_ method: String, _ url: String) -> UploadAction {
        lastID += 1
        return .send(UploadRequest(id: lastID, method: method, url: url))
    }

    /// Returns the folder of a URL's path, with a slash at its end, or `nil` for the root, which cannot be made.
    static func parent(of url: String) -> String? {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        var path = url[..<end]
        if path.hasSuffix("/") { path = path.dropLast() }
        // The slashes separate https:, an empty text, the host, and the path's segments.
        let slashes = path.indices.filter { path[$0] == "/" }
        guard slashes.count > 3, let slash = slashes.last else { return nil }
        return String(path[...slash])
    }
}
