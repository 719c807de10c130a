import TransferCore

/// The translation of one HTTP request into steps of a file server: pure, no I/O.
///
/// A file server must be asked for facts that HTTP has in its fields, so most requests begin with a query, called look
/// below. A request that continues a file, in either direction, looks on the same connection immediately before.
///
/// | Request | Steps | Answer |
/// |---|---|---|
/// | `HEAD` | look | 200 with length, date and an entity tag of both |
/// | `GET` | fetch | 200 |
/// | `GET` with a Range | look, fetch from there, look | 206; 200 where If-Range does not hold; 416 |
/// | `GET` with a condition | look, fetch | 304 where If-None-Match or If-Modified-Since shows no change |
/// | `GET` over FTP, SIZE refused | fetch without its length | 200 without a length; only RETR shows a missing file |
/// | `PUT` | store | 201; Server-Length: bytes that the server confirmed |
/// | `PATCH` with Upload-Offset | look, append | 204; 409 with the right offset |
/// | `DELETE` | delete | 204 |
/// | `MOVE` with Destination | rename; where SFTP refuses that, look | 201; 409 where the destination exists |
/// | `OPTIONS` with Destination | rename, delete, of unused names | 200 with Allow, which lists what is not denied |
/// | `MKCOL` | look (SFTP), make | 201; 405 where the folder exists |
/// | `PROPPATCH` with Last-Modified | set the time | 204 |
///
/// The statuses of failures are 404, 403, 409 (no such folder) and 507. A field Server-Reply has the server's message.
/// A refused look does not answer the request. HEAD then gets a 403, which does not say whether the file exists.
/// Requests for which a look is only preparation continue without it.
struct FileServerDialogue: Sendable {
    enum Step: Sendable, Hashable {
        case look(FileServerURL)
        case fetch(from: Int64)
        /// The whole file is fetched without SIZE, which is optional (RFC 3659 §4).
        case fetchUnmeasured
        case store
        case append(at: Int64)
        case delete
        case rename(to: FileServerURL)
        case makeFolder
        /// A missing file is renamed and deleted over FTP, to learn whether the commands are allowed.
        case probe
        /// The time of the file's last modification is set, in seconds since 1970.
        case setTime(Int64)

        /// Whether the answer describes an existing file.
        var isLook: Bool {
            switch self {
            case .look, .fetch, .fetchUnmeasured: true
            case .store, .append, .delete, .rename, .makeFolder, .probe, .setTime: false
            }
        }
    }

    enum Result: Sendable {
        /// The step has succeeded, with the description of the file after a look or a fetch.
        case done(RemoteFile)
        /// The answer to a probe: the commands that the server did not deny.
        case allowed(rename: Bool, delete: Bool)
        case failed(FileServerFailure)

        /// Whether the server denies the command.
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
        /// The answer was given already when its body began.
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
        /// The time of the last modification in seconds since 1970.
        let modified: Int64?

        init?(_ headers: [HeaderField]) {
            etag = headers.value("If-None-Match")
            modified = headers.value("If-Modified-Since").flatMap { HTTPDate.parse($0) }
            if etag == nil, modified == nil { return nil }
        }

        /// Returns whether the file is unchanged. The date does not count beside a tag.
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
        /// The whole body came, and the file is compared with its earlier description.
        case verifying(RemoteFile)
        case writing(from: Int64)
        case acting
        /// A file was not renamed for this reason, and the server is asked whether the other name exists.
        case lookingAtTarget(FileServerFailure)
        /// The commands are for unused names. `mayRename` is the answer to the renaming, once it has come.
        case probing(mayRename: Bool?)
        case ended
    }

    let url: FileServerURL
    let request: Request
    let known: Known?
    var state = State.ready
    /// Whether FTP's SIZE follows a store (RFC 7240 §4.2).
    let measuresStore: Bool

    /// Creates the dialogue of one request.
    ///
    /// - Throws: `invalidRequest` for a request that no file server can carry out.
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

    /// Whether one of the steps sends a body to the server.
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
                "cannot move \(url.text) to \(Redaction.url(text)): a name on the same server is needed")
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
        // An existing folder is refused with the same code as one that cannot be made.
        case .makeFolder: return url.isSSH ? look(url) : act(.makeFolder)
        case .setTime(let time): return act(.setTime(time))
        }
    }

    /// Handles the first bytes of a file.
    ///
    /// - Parameter file: The server's description of the file in this step.
    mutating func bodyBegins(_ file: RemoteFile) -> BodyAction {
        if case .fetchingUnmeasured(false) = state {
            state = .fetchingUnmeasured(began: true)
            return .deliver(file.head(200, length: nil))
        }
        guard case .fetching(let offset, let expected, false) = state else {
            return .stop(TransferError(.badResponse, "bytes of a file that was not requested", isTransient: true))
        }
        if let expected, expected != file { return .stop(Self.changed(url)) }
        state = .fetching(from: offset, expected: expected, began: true)
        guard offset > 0 else { return .deliver(file.head(200, length: file.size)) }
        return file.part(from: offset).map { .deliver($0) } ?? .stop(Self.changed(url))
    }

    /// Handles the end of a step.
    ///
    /// - Parameters:
    ///   - sent: The bytes of the body that left in this step.
    ///   - madeFolder: Whether a missing folder was made first.
    ///   - refusedFile: Whether the server refused the file itself (RETR), and not a query about it.
    mutating func ended(
        _ result: Result, sent: Int64, madeFolder: Bool, refusedFile: Bool = false
    ) -> Action {
        let ended = state
        state = .ended
        switch (ended, result) {
        case (.ready, _), (.ended, _):
            return .fail(TransferError(.internalFault, "a step of a file server ended before it began"))
        case (.fetching(let offset, _, false), .failed(.error(let error)))
        where refusedFile && offset > 0 && error.code == .badResponse && !error.isTransient:
            // A server may take REST, and refuse the restart only at RETR, also by codes that are not of a file.
            return .perform(fetch(from: 0))
        // A rename fails anyway where its path is missing.
        case (.looking, .failed(.error(let error))) where isMove && error.code == .badResponse:
            return lookedInVain(.ambiguous(error.message))
        case (.probing(let mayRename), let result): return probed(result, mayRename: mayRename)
        case (_, .allowed): return .fail(TransferError(.internalFault, "a probe that was not requested"))
        case (.acting, .failed(let failure)) where url.isSSH && isRefusedMove(failure): return lookAtTarget(failure)
        case (.lookingAtTarget, .done): return .answer(Self.head(409, "there is a file of that name"))
        case (.lookingAtTarget(let failure), .failed): return refused(failure)
        case (_, .failed(.error(let error))): return .fail(error)
        case (.looking, .done(let file)): return looked(file)
        case (.looking, .failed(let failure)): return lookedInVain(failure)
        case (.fetching(let offset, let expected, let began), .done(let file)):
            guard began else {
                // An empty data connection contradicts the longer length that the server has just reported.
                if let size = file.size ?? expected?.size, size > offset {
                    return .fail(.emptyAnswer(of: size - offset))
                }
                return .answer(offset == 0 ? file.head(200, length: 0) : file.unsatisfiable)
            }
            // Only joined bytes need another look: bytes of a single fetch come from one opened file.
            guard let expected, offset > 0, expected.etag != nil else { return .finish }
            state = .verifying(expected)
            return .perform(.look(url))
        case (.fetching(let offset, _, let began), .failed(let failure)):
            switch failure {
            case .noRestart where offset > 0: return .perform(fetch(from: 0))
            // The file was longer a moment ago.
            case .beyondEnd where offset > 0: return .fail(Self.changed(url))
            case .missing, .denied, .ambiguous:
                guard !began, !url.isSSH else { return began ? .fail(Self.lost(failure)) : refused(failure) }
                // FTP's 550 may be SIZE's: only RETR shows whether the file exists. RETR's own may be that of the
                // restart, which the server has taken at REST: only RETR of the whole shows whether the file exists.
                if refusedFile { return offset > 0 ? .perform(fetch(from: 0)) : refused(failure) }
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

    /// Parses `bytes=N-` with N above 0; other ranges are ignored, as a server may do (RFC 9110 §14.2).
    private static func range(_ headers: [HeaderField]) -> Range? {
        guard let text = headers.value("Range"), text.hasPrefix("bytes="), text.hasSuffix("-"),
            let offset = Int64(text.dropFirst(6).dropLast()), offset > 0
        else { return nil }
        return Range(offset: offset, condition: headers.value("If-Range"))
    }
}
