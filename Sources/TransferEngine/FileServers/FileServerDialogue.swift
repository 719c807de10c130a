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
/// | `PUT` | store | 201; Server-Length: bytes that the server confirmed |
/// | `PATCH` with Upload-Offset | look, append | 204; 409 with the offset that is right |
/// | `DELETE` | delete | 204 |
/// | `MOVE` with Destination | rename; where SFTP refuses that, look | 201; 409 where something is there |
/// | `OPTIONS` with Destination | rename, delete, of names that nothing has | 200 with Allow, which lists what isn't denied |
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
        /// FTP: a file that is not there is renamed and deleted.
        case probe
        /// Seconds since 1970 become the time of the file's last modification.
        case setTime(Int64)

        /// Whether the answer tells of a file that is there.
        var isLook: Bool {
            switch self {
            case .look, .fetch, .fetchUnmeasured: true
            case .store, .append, .delete, .rename, .makeFolder, .probe, .setTime: false
            }
        }
    }

    enum Result: Sendable {
        /// - Parameter RemoteFile: Of a look, and of a fetch.
        case done(RemoteFile)
        /// The answer to a probe: the commands that the server did not deny.
        case allowed(rename: Bool, delete: Bool)
        case failed(FileServerFailure)

        /// Whether the server says that this isn't allowed.
        var isDenial: Bool {
            switch self {
            case .failed(.denied), .failed(.ambiguous): true
            default: false
            }
        }
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

    enum Request: Sendable {
        case head
        case get(Range?)
        case put
        case patch(offset: Int64)
        case delete
        case move(to: FileServerURL, mayReplace: Bool)
        case options(to: FileServerURL)
        case makeFolder
        case setTime(Int64)
    }

    struct Range: Sendable {
        let offset: Int64
        let condition: String?
    }

    /// The version that the client has already (RFC 9110 §13.1.2 and §13.1.3).
    struct Known: Sendable {
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

    enum State: Sendable {
        case ready
        case looking
        case fetching(from: Int64, expected: RemoteFile?, began: Bool)
        case fetchingUnmeasured(began: Bool)
        /// The body came whole; is the file still the one that was looked at before?
        case verifying(RemoteFile)
        case writing(from: Int64)
        case acting
        /// A file wasn't renamed, for this reason: is there one of the other name?
        case lookingAtTarget(FileServerFailure)
        /// The commands are for names that nothing has. `mayRename`: the answer to the renaming, once that is there.
        case probing(mayRename: Bool?)
        case ended
    }

    let url: FileServerURL
    let request: Request
    let known: Known?
    var state = State.ready
    /// Whether FTP's SIZE is asked for behind a store (RFC 7240 §4.2).
    let measuresStore: Bool

    /// - Throws: `invalidRequest` for what no file server can do.
    init(url: FileServerURL, method: String, headers: [HeaderField]) throws(TransferError) {
        self.url = url
        known = method == "GET" ? Known(headers) : nil
        measuresStore = method == "PUT" && headers.value("Prefer") == "return=representation"
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
            request = .move(
                to: try Self.destination(of: url, headers),
                mayReplace: headers.value("Overwrite")?.uppercased() != "F")
        case "OPTIONS": request = .options(to: try Self.destination(of: url, headers))
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

    var isMove: Bool {
        if case .move = request { return true }
        return false
    }

    private static func destination(
        of url: FileServerURL, _ headers: [HeaderField]
    ) throws(TransferError) -> FileServerURL {
        guard let text = headers.value("Destination") else {
            throw TransferError(.invalidRequest, "a MOVE or OPTIONS needs a Destination")
        }
        let destination = try FileServerURL(text)
        guard destination.origin == url.origin, !destination.isFolder else {
            throw TransferError(
                .invalidRequest,
                "can't move \(url.text) to \(Redaction.url(text)): a name on the same server is needed")
        }
        return destination
    }

    mutating func start() -> Step {
        switch request {
        case .head, .get(.some), .patch: return look(url)
        case .get(nil): return known == nil ? fetch(from: 0) : look(url)
        case .put: return store()
        case .delete: return act(.delete)
        case .move(let destination, let mayReplace):
            return mayReplace ? act(.rename(to: destination)) : look(destination)
        case .options(let other):
            state = .probing(mayRename: nil)
            return url.isSSH ? .rename(to: other) : .probe
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
        case (.probing(let mayRename), let result): return probed(result, mayRename: mayRename)
        case (_, .allowed): return .fail(TransferError(.internalFault, "a probe that nobody asked for"))
        case (.acting, .failed(let failure)) where url.isSSH && isRefusedMove(failure): return lookAtTarget(failure)
        case (.lookingAtTarget, .done): return .answer(Self.head(409, "there is a file of that name"))
        case (.lookingAtTarget(let failure), .failed): return refused(failure)
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
        case (.writing(let offset), .done(let file)):
            guard case .patch = request else { return .answer(stored(file, sent)) }
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

    // MARK: Steps

    mutating func look(_ place: FileServerURL) -> Step {
        state = .looking
        return .look(place)
    }

    mutating func fetch(from offset: Int64, expected: RemoteFile? = nil) -> Step {
        state = .fetching(from: offset, expected: expected, began: false)
        return .fetch(from: offset)
    }

    mutating func fetchUnmeasured() -> Step {
        state = .fetchingUnmeasured(began: false)
        return .fetchUnmeasured
    }

    mutating func store() -> Step {
        state = .writing(from: 0)
        return .store
    }

    mutating func append(at offset: Int64) -> Step {
        state = .writing(from: offset)
        return .append(at: offset)
    }

    mutating func act(_ step: Step) -> Step {
        state = .acting
        return step
    }

    // MARK: Failures

    func refused(_ failure: FileServerFailure) -> Action {
        switch failure {
        case .missing(let words): .answer(Self.head(404, words))
        case .denied(let words), .ambiguous(let words): .answer(Self.head(403, words))
        case .exists(let words): .answer(Self.head(409, words))
        case .full(let words): .answer(Self.head(507, words))
        case .beyondEnd, .noRestart: .fail(Self.lost(failure))
        case .error(let error): .fail(error)
        }
    }

    static func head(_ status: Int, _ words: String) -> ResponseHead {
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
