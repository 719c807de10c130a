import TransferCore

/// A PUT to a WebDAV server that makes the folders above the file where they are missing (MKCOL, RFC 4918 §9.3).
///
/// The file is sent first: most of the time the folders are there. A server that misses one answers 409 (RFC 4918
/// §9.7.1), some 404 or 403, nginx 500; then the folders are made from the innermost that can be made outwards and inwards
/// again, and the file is sent once more. A 500 where the folder is there, or can't be made, was about something else.
public struct FolderMakingPut: UploadDialogue {
    private enum State {
        case sending(afterFolders: Bool)
        /// The folders still to be made, the outermost first; the first one is being made.
        case descending([String])
        /// Looks for the innermost folder whose parent is there; those below it are still to be made. `refusal`: what the
        /// file was answered by.
        case ascending(folder: String, below: [String], refusal: UploadAnswer)
    }

    private let url: String
    private let method: String
    private let source: UploadSource
    private var state = State.sending(afterFolders: false)
    private var lastID = 0
    /// When the file was sent last, in seconds since 1970.
    private var began: Int64 = 0

    public init(url: String, method: String = "PUT", source: UploadSource) {
        self.url = url
        self.method = method
        self.source = source
    }

    public mutating func begin(now: Int64) -> [UploadAction] { [send(now)] }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .failed(_, let error, let sent): failed(error, sent: sent)
        case .interim, .digested: []
        case .answered(let answer): [answered(answer, now)]
        }
    }

    /// Where all of the file left, the next attempt asks whether it's there (``ConfirmingPut``).
    private func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        guard case .sending = state, method == "PUT", source.size > 0, sent >= source.size else {
            return [.fail(error)]
        }
        return [.save(ConfirmingPut.state(began: began)), .fail(error)]
    }

    /// There is nothing that a server would hold.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }

    private mutating func answered(_ answer: UploadAnswer, _ now: Int64) -> UploadAction {
        let status = answer.head.status
        switch state {
        case .sending(afterFolders: false) where [403, 404, 409, 500].contains(status):
            guard let folder = Self.parent(of: url) else { return PlainAnswer.end(answer, now: now) }
            return make(folder, below: [], after: answer)
        case .sending: return PlainAnswer.end(answer, now: now)
        case .ascending(let folder, let below, let refusal):
            // 405: it's there already. 409: its own parent isn't.
            if status == 409 || status == 404 {
                guard let parent = Self.parent(of: folder) else { return failure(folder, answer, now) }
                return make(parent, below: [folder] + below, after: refusal)
            }
            if refusal.head.status == 500, status != 201, below.isEmpty { return PlainAnswer.end(refusal, now: now) }
            guard status == 201 || status == 200 || status == 405 else { return failure(folder, answer, now) }
            return descend(below, now)
        case .descending(let folders):
            guard status == 201 || status == 200 || status == 405 else { return failure(folders[0], answer, now) }
            return descend(Array(folders.dropFirst()), now)
        }
    }

    private mutating func make(_ folder: String, below: [String], after refusal: UploadAnswer) -> UploadAction {
        state = .ascending(folder: folder, below: below, refusal: refusal)
        return request("MKCOL", folder)
    }

    private mutating func descend(_ folders: [String], _ now: Int64) -> UploadAction {
        guard let next = folders.first else { return send(now, afterFolders: true) }
        state = .descending(folders)
        return request("MKCOL", next)
    }

    private func failure(_ folder: String, _ answer: UploadAnswer, _ now: Int64) -> UploadAction {
        var error = StatusRule.error(answer.head, now: now)
        error.message = "the folder \(Redaction.url(folder)) can't be made: \(error.message)"
        return .fail(error)
    }

    private mutating func send(_ now: Int64, afterFolders: Bool = false) -> UploadAction {
        state = .sending(afterFolders: afterFolders)
        began = now
        return request(method, url, .source(0..<source.size))
    }

    private mutating func request(_ method: String, _ url: String, _ body: UploadRequest.Body = .none) -> UploadAction {
        lastID += 1
        return .send(UploadRequest(id: lastID, method: method, url: url, body: body))
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
