import TransferCore

/// One request of HTTP, put to a file server in steps: pure, no I/O.
///
/// A file server has to be asked for what HTTP has in its fields, so that most requests begin with a look. Whoever
/// continues a file, in either direction, has looked at it on the same connection immediately before.
///
/// | Request | Steps | Answer |
/// |---|---|---|
/// | `HEAD` | look | 200 with length, date and an entity tag of both |
/// | `GET` | fetch | 200 |
/// | `GET` with a Range | look, fetch from there, look | 206; 200 where If-Range doesn't hold; 416 |
/// | `GET` with a condition | look, fetch | 304 where If-None-Match or If-Modified-Since says that nothing is new |
/// | `GET` over FTP, SIZE refused | fetch without its length | 200 without a length; only RETR says that nothing is there |
/// | `PUT` | store | 201 |
/// | `PATCH` with Upload-Offset | look, append | 204; 409 with the offset that is right |
/// | `DELETE` | delete | 204 |
/// | `MOVE` with Destination | look (SFTP), rename | 201; 409 where something is there |
/// | `MKCOL` | look (SFTP), make | 201; 405 where it's there |
/// | `PROPPATCH` with Last-Modified | set the time | 204 |
///
/// Statuses of failures: 404, 403, 409 (no such folder), 507. A field Server-Reply has the server's words. A look that the
/// server refuses is no answer to what was asked: a HEAD of it is a 403, which leaves open whether there is a file, and
/// what only looked first goes on without.
struct FileServerDialogue: Sendable {
    enum Step: Sendable, Hashable {
        case look(FileServerURL)
        case fetch(from: Int64)
        /// The whole of it, without SIZE, which is optional (RFC 3659 §4).
        case fetchUnmeasured
        case store
        case append(at: Int64)
        case delete
        case rename(to: FileServerURL)
        case makeFolder
        /// Seconds since 1970 become the time of the file's last modification.
        case setTime(Int64)

        /// Whether the answer tells of a file that is there.
        var isLook: Bool {
            switch self {
            case .look, .fetch, .fetchUnmeasured: true
            case .store, .append, .delete, .rename, .makeFolder, .setTime: false
            }
        }
    }

    enum Result: Sendable {
        /// - Parameter RemoteFile: Of a look, and of a fetch.
        case done(RemoteFile)
        case failed(FileServerFailure)
    }

    enum Action: Sendable {
        case perform(Step)
        case answer(ResponseHead)
        /// The answer was given when its body began.
        case finish
        case fail(TransferError)
    }

    enum BodyAction: Sendable {
        case deliver(ResponseHead)
        case stop(TransferError)
    }

    private enum Request: Sendable {
        case head
        case get(Range?)
        case put
        case patch(offset: Int64)
        case delete
        case move(to: FileServerURL, mayReplace: Bool)
        case makeFolder
        case setTime(Int64)
    }

    private struct Range: Sendable {
        let offset: Int64
        let condition: String?
    }

    /// The version that the client has already (RFC 9110 §13.1.2 and §13.1.3).
    private struct Known: Sendable {
        let etag: String?
        /// Seconds since 1970.
        let modified: Int64?

        init?(_ headers: [HeaderField]) {
            etag = headers.value("If-None-Match")
            modified = headers.value("If-Modified-Since").flatMap { HTTPDate.parse($0) }
            if etag == nil, modified == nil { return nil }
        }

        /// Beside a tag the date doesn't count.
        func isStill(_ file: RemoteFile) -> Bool {
            if let etag, let now = file.etag { return etag == now }
            guard etag == nil, let modified, let now = file.modified else { return false }
            return now <= modified
        }
    }

    private enum State: Sendable {
        case ready
        case looking
        case fetching(from: Int64, expected: RemoteFile?, began: Bool)
        case fetchingUnmeasured(began: Bool)
        /// The body came whole; is the file still the one that was looked at before?
        case verifying(RemoteFile)
        case writing(from: Int64)
        case acting
        case ended
    }

    let url: FileServerURL
    private let request: Request
    private let known: Known?
    private var state = State.ready

    /// - Throws: `invalidRequest` for what no file server can do.
    init(url: FileServerURL, method: String, headers: [HeaderField]) throws(TransferError) {
        self.url = url
        known = method == "GET" ? Known(headers) : nil
        switch method {
        case "HEAD": request = .head
        case "GET": request = .get(Self.range(headers))
        case "PUT": request = .put
        case "PATCH":
            guard let offset = headers.value("Upload-Offset").flatMap({ Int64($0) }), offset >= 0 else {
                throw TransferError(.invalidRequest, "a PATCH of a file server needs an Upload-Offset")
            }
            request = .patch(offset: offset)
        case "DELETE": request = .delete
        case "MOVE":
            guard let text = headers.value("Destination") else {
                throw TransferError(.invalidRequest, "a MOVE needs a Destination")
            }
            let destination = try FileServerURL(text)
            guard destination.origin == url.origin, !destination.isFolder else {
                throw TransferError(
                    .invalidRequest,
                    "can't move \(url.text) to \(Redaction.url(text)): a name on the same server is needed"
                )
            }
            request = .move(
                to: destination, mayReplace: !url.isSSH && headers.value("Overwrite")?.uppercased() != "F")
        case "MKCOL": request = .makeFolder
        case "PROPPATCH":
            request = .setTime(try Self.time(headers))
        default:
            throw TransferError(.invalidRequest, "there is no \(method) with \(url.origin.scheme) servers")
        }
        switch request {
        case .delete, .makeFolder:
            guard !url.path.allSatisfy({ $0 == UInt8(ascii: "/") }) else {
                throw TransferError(.invalidRequest, "\(url.text) names no folder of its own")
            }
        default:
            guard !url.isFolder else { throw TransferError(.invalidRequest, "\(url.text) names a folder, not a file") }
        }
    }

    /// Whether a body is sent to the server, in one of the steps.
    var sendsBody: Bool {
        switch request {
        case .put, .patch: true
        default: false
        }
    }

    private var isMove: Bool {
        if case .move = request { return true }
        return false
    }

    mutating func start() -> Step {
        switch request {
        case .head, .get(.some), .patch: return look(url)
        case .get(nil): return known == nil ? fetch(from: 0) : look(url)
        case .put: return store()
        case .delete: return act(.delete)
        case .move(let destination, let mayReplace):
            return mayReplace ? act(.rename(to: destination)) : look(destination)
        // A folder that is there is refused with the same code as one that can't be made.
        case .makeFolder: return url.isSSH ? look(url) : act(.makeFolder)
        case .setTime(let time): return act(.setTime(time))
        }
    }

    /// The first bytes of a file came.
    ///
    /// - Parameter file: What the server said of it in this very step.
    mutating func bodyBegins(_ file: RemoteFile) -> BodyAction {
        if case .fetchingUnmeasured(false) = state {
            state = .fetchingUnmeasured(began: true)
            return .deliver(file.head(200, length: nil))
        }
        guard case .fetching(let offset, let expected, false) = state else {
            return .stop(TransferError(.badResponse, "bytes of a file that nobody asked for", isTransient: true))
        }
        if let expected, expected != file { return .stop(Self.changed(url)) }
        state = .fetching(from: offset, expected: expected, began: true)
        guard offset > 0 else { return .deliver(file.head(200, length: file.size)) }
        return file.part(from: offset).map { .deliver($0) } ?? .stop(Self.changed(url))
    }

    /// - Parameters:
    ///   - sent: Bytes of the body that went out in this step.
    ///   - madeFolder: Whether a folder was missing first.
    ///   - refusedFile: The server refused the file itself (RETR), and not a question about it.
    mutating func ended(
        _ result: Result, sent: Int64, madeFolder: Bool, refusedFile: Bool = false
    ) -> Action {
        let ended = state
        state = .ended
        switch (ended, result) {
        case (.ready, _), (.ended, _):
            return .fail(TransferError(.internalFault, "a step of a file server ended before it began"))
        // A rename fails by itself where there is no way to it.
        case (.looking, .failed(.error(let error))) where isMove && error.code == .badResponse:
            return lookedInVain(.ambiguous(error.message))
        case (_, .failed(.error(let error))): return .fail(error)
        case (.looking, .done(let file)): return looked(file)
        case (.looking, .failed(let failure)): return lookedInVain(failure)
        case (.fetching(let offset, let expected, let began), .done(let file)):
            guard began else {
                // An empty data connection is no file that the server has just called longer.
                if let size = file.size ?? expected?.size, size > offset {
                    return .fail(.emptyAnswer(of: size - offset))
                }
                return .answer(offset == 0 ? file.head(200, length: 0) : file.unsatisfiable)
            }
            // Only bytes that were joined need another look: what came in one piece comes from one opened file.
            guard let expected, offset > 0, expected.etag != nil else { return .finish }
            state = .verifying(expected)
            return .perform(.look(url))
        case (.fetching(let offset, _, let began), .failed(let failure)):
            switch failure {
            case .noRestart where offset > 0: return .perform(fetch(from: 0))
            // The file was longer a moment ago.
            case .beyondEnd where offset > 0: return .fail(Self.changed(url))
            // FTP's 550 may be SIZE's: whether there is a file is for RETR to say.
            case .missing, .denied, .ambiguous:
                guard !began, !url.isSSH, !refusedFile else {
                    return began ? .fail(Self.lost(failure)) : refused(failure)
                }
                return .perform(fetchUnmeasured())
            default: return began ? .fail(Self.lost(failure)) : refused(failure)
            }
        case (.fetchingUnmeasured(let began), .done(let file)):
            return began ? .finish : .answer(file.head(200, length: 0))
        case (.fetchingUnmeasured(let began), .failed(let failure)):
            return began ? .fail(Self.lost(failure)) : refused(failure)
        case (.verifying(let expected), .done(let file)):
            return file == expected ? .finish : .fail(Self.changed(url))
        case (.verifying, .failed): return .fail(Self.changed(url))
        case (.writing(let offset), .done):
            guard case .patch = request else { return .answer(ResponseHead(status: 201, fields: [])) }
            return .answer(ResponseHead(status: 204, fields: [HeaderField("Upload-Offset", "\(offset + sent)")]))
        case (.writing, .failed(.missing(let words))):
            // The folder is missing (RFC 4918 §9.7.1).
            return .answer(Self.head(409, words))
        case (.writing, .failed(let failure)): return refused(failure)
        case (.acting, .done): return acted(madeFolder)
        case (.acting, .failed(.missing(let words))):
            if case .makeFolder = request { return .answer(Self.head(409, words)) }
            return .answer(Self.head(404, words))
        case (.acting, .failed(let failure)): return refused(failure)
        }
    }

    // MARK: Looks

    private mutating func looked(_ file: RemoteFile) -> Action {
        switch request {
        case .head: return .answer(file.head(200, length: file.size))
        case .get where known?.isStill(file) == true: return .answer(file.head(304, length: nil))
        case .get(nil): return .perform(fetch(from: 0))
        case .get(let range?):
            if let condition = range.condition, condition != file.etag { return .perform(fetch(from: 0)) }
            // Without its length no part can be told from the whole.
            guard let size = file.size else { return .perform(fetch(from: 0)) }
            guard range.offset < size else { return .answer(file.unsatisfiable) }
            return .perform(fetch(from: range.offset, expected: file))
        case .patch(let offset):
            guard let size = file.size else {
                return .fail(
                    TransferError(
                        .badResponse,
                        "\(url.origin.hostAndPort) doesn't tell how long files are: nothing can be continued there"))
            }
            return size == offset ? .perform(offset == 0 ? store() : append(at: offset)) : conflict(size)
        case .move: return .answer(Self.head(409, "there is a file of that name"))
        case .makeFolder: return .answer(Self.head(405, "it's there"))
        case .put, .delete, .setTime: return .fail(TransferError(.internalFault, "a look that nobody asked for"))
        }
    }

    /// - Parameter failure: That the server says that there is no file, or that it doesn't let itself be asked.
    private mutating func lookedInVain(_ failure: FileServerFailure) -> Action {
        switch (request, failure) {
        // The file decides, not its length.
        case (.get, .missing), (.get, .denied), (.get, .ambiguous):
            return url.isSSH ? refused(failure) : .perform(fetchUnmeasured())
        // A server that tells no reason may refuse to move or make something.
        case (.move, .denied), (.move, .ambiguous), (.makeFolder, .denied), (.makeFolder, .ambiguous): break
        case (_, .missing): break
        default: return refused(failure)
        }
        switch request {
        case .patch(let offset): return offset == 0 ? .perform(store()) : conflict(0)
        case .move(let destination, _): return .perform(act(.rename(to: destination)))
        case .makeFolder: return .perform(act(.makeFolder))
        default: return refused(failure)
        }
    }

    private func conflict(_ size: Int64) -> Action {
        .answer(ResponseHead(status: 409, fields: [HeaderField("Upload-Offset", "\(size)")]))
    }

    private func acted(_ madeFolder: Bool) -> Action {
        switch request {
        case .delete, .setTime: return .answer(ResponseHead(status: 204, fields: []))
        case .makeFolder where !url.isSSH && !madeFolder: return .answer(Self.head(405, "it's there"))
        default: return .answer(ResponseHead(status: 201, fields: []))
        }
    }

    // MARK: Steps

    private mutating func look(_ place: FileServerURL) -> Step {
        state = .looking
        return .look(place)
    }

    private mutating func fetch(from offset: Int64, expected: RemoteFile? = nil) -> Step {
        state = .fetching(from: offset, expected: expected, began: false)
        return .fetch(from: offset)
    }

    private mutating func fetchUnmeasured() -> Step {
        state = .fetchingUnmeasured(began: false)
        return .fetchUnmeasured
    }

    private mutating func store() -> Step {
        state = .writing(from: 0)
        return .store
    }

    private mutating func append(at offset: Int64) -> Step {
        state = .writing(from: offset)
        return .append(at: offset)
    }

    private mutating func act(_ step: Step) -> Step {
        state = .acting
        return step
    }

    // MARK: Failures

    private func refused(_ failure: FileServerFailure) -> Action {
        switch failure {
        case .missing(let words): .answer(Self.head(404, words))
        case .denied(let words), .ambiguous(let words): .answer(Self.head(403, words))
        case .exists(let words): .answer(Self.head(409, words))
        case .full(let words): .answer(Self.head(507, words))
        case .beyondEnd, .noRestart: .fail(Self.lost(failure))
        case .error(let error): .fail(error)
        }
    }

    private static func head(_ status: Int, _ words: String) -> ResponseHead {
        ResponseHead(
            status: status, fields: [HeaderField("Content-Length", "0"), HeaderField("Server-Reply", words)])
    }

    /// `bytes=N-` with N above 0; other ranges are ignored, as anybody may (RFC 9110 §14.2).
    private static func range(_ headers: [HeaderField]) -> Range? {
        guard let text = headers.value("Range"), text.hasPrefix("bytes="), text.hasSuffix("-"),
            let offset = Int64(text.dropFirst(6).dropLast()), offset > 0
        else { return nil }
        return Range(offset: offset, condition: headers.value("If-Range"))
    }
}
