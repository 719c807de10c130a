/// A server of the draft "Resumable Uploads for HTTP", written from the text of -12 (interop version 8). One switch
/// selects the deviating rules of -04 and -05 (interop version 6), and another one a plain server.
///
/// A PUT stores under its target, a POST under its target and a number. Uploads are resources under `/uploads/`. The
/// service has no clock: the test sets ``now``.
public struct ResumableService: UploadService {
    /// The version of the protocol.
    public enum Dialect: Sendable, Equatable {
        case version8, version6
        /// A plain server, which ignores the protocol's fields: every PUT and POST is an ordinary request.
        case none

        var number: String? {
            switch self {
            case .version8: "8"
            case .version6: "6"
            case .none: nil
            }
        }
    }

    /// The limits that `Upload-Limit` announces, in bytes and seconds.
    public struct Limits: Sendable, Equatable {
        /// The maximum size of an upload in bytes; `nil` for none.
        public var maxSize: Int?
        /// The minimum size of an upload in bytes; `nil` for none.
        public var minSize: Int?
        /// The maximum size of a request's body in bytes; `nil` for none.
        public var maxAppendSize: Int?
        /// The minimum size of a request's body in bytes, except for the last request; `nil` for none.
        public var minAppendSize: Int?
        /// The lifetime of an upload in seconds; `nil` for no limit.
        public var lifetime: Int64?

        /// Creates limits; `nil` means none.
        public init(
            maxSize: Int? = nil, minSize: Int? = nil, maxAppendSize: Int? = nil, minAppendSize: Int? = nil,
            lifetime: Int64? = nil
        ) {
            self.maxSize = maxSize
            self.minSize = minSize
            self.maxAppendSize = maxAppendSize
            self.minAppendSize = minAppendSize
            self.lifetime = lifetime
        }
    }

    /// A file that a target has accepted.
    public struct Finished: Sendable {
        /// The path of the stored file.
        public let path: String
        /// The method of the request that began the upload.
        public let method: String
        /// The fields of the request that began the upload.
        public let headers: HeaderFields
        /// The bytes of the file.
        public let bytes: [UInt8]
    }

    /// A request to the service.
    public struct SeenRequest: Sendable {
        /// The method of the request.
        public let method: String
        /// The target of the request.
        public let target: String
        /// The header fields of the request.
        public let headers: HeaderFields
    }

    /// The version of the protocol.
    public var dialect = Dialect.version8
    /// The limits that the service announces and enforces.
    public var limits = Limits()
    /// The current time in seconds, by which ``Limits/lifetime`` is measured.
    public var now: Int64 = 0
    /// Whether requests of other versions are answered with 400, as by Apple's server; otherwise their fields are
    /// ignored.
    public var refusesOtherVersions = false
    /// Whether the service sends 104 at all, which not every server can.
    public var sendsInterim = true
    /// The number of bytes after which a 104 reports the progress; `nil` for no such reports.
    public var progressInterval: Int?
    /// Whether a complete upload in the first request may exceed ``Limits/maxAppendSize``, where the draft only says
    /// "might reject".
    public var refusesLongCreation = true
    /// Whether a complete upload can still be queried.
    public var keepsCompleted = true
    /// Whether responses have `Upload-Complete`, which the draft only recommends.
    public var marksAnswers = true
    /// The status with which targets refuse complete files; `nil` where they accept them.
    public var targetError: Int?

    /// The files accepted by targets, in order; a file that was sent twice is listed twice.
    public var finished: [Finished] { history.finished }
    /// The stored files, by path.
    public var objects: [String: [UInt8]] { history.objects }
    /// The number of body bytes received, over all requests.
    public var received: Int { history.received }
    /// The requests so far, in their order.
    public var requests: [SeenRequest] { history.requests }
    /// The number of incomplete uploads.
    public var unfinished: Int { uploads.values.count { !$0.isComplete } }

    var uploads: [String: Upload] = [:]
    private var history = History()
    private var exchanges: [Int: Exchange] = [:]
    private var created = 0
    private var posted = 0

    /// Creates a service without uploads.
    public init(dialect: Dialect = .version8, limits: Limits = Limits()) {
        self.dialect = dialect
        self.limits = limits
    }

    /// Removes all upload resources, as a restart of a server without storage would.
    public mutating func forgetUploads() { uploads = [:] }

    /// Removes the files that the targets stored.
    public mutating func forgetObjects() { history.objects = [:] }

    /// Returns the number of bytes of the upload whose URL has this path; `nil` where there is none.
    public func offset(of path: String) -> Int? { uploads[path]?.bytes.count }

    /// Replaces the bytes of an upload, as only a faulty server would.
    public mutating func setBytes(_ bytes: [UInt8], of path: String) { uploads[path]?.bytes = bytes }

    struct Upload: Sendable {
        var path: String
        var method: String
        var target: String
        var headers: HeaderFields
        var bytes: [UInt8] = []
        var length: Int?
        var isComplete = false
        /// Whether the upload accepts no more bytes because its length was exceeded.
        var isInvalid = false
        var final: Response?
        var expires: Int64?
        var running: Int?
    }

    /// The events so far.
    private struct History: Sendable {
        var finished: [Finished] = []
        var objects: [String: [UInt8]] = [:]
        var received = 0
        var requests: [SeenRequest] = []
    }

    /// A request whose body is arriving.
    private struct Exchange: Sendable {
        enum Kind: Sendable {
            case creation(String), append(String)
            case plain(method: String, target: String, headers: HeaderFields, bytes: [UInt8])
            /// A request that a later one to the same upload has replaced ("Concurrency").
            case superseded
        }
        var kind: Kind
        var isLast = false
        var untilProgress: Int?
    }

    /// Handles the head of a request.
    public mutating func begin(
        _ id: Int, method: String, target: String, headers: HeaderFields
    ) -> UploadServiceStep {
        history.requests.append(SeenRequest(method: method, target: target, headers: headers))
        if dialect != .none, target.hasPrefix("/uploads/") {
            return resource(id, method: method, path: target, headers: headers)
        }
        switch method {
        case "PUT", "POST", "PATCH": return entered(id, method: method, target: target, headers: headers)
        case "OPTIONS" where dialect != .none && headers["Upload-Complete"] == nil:
            return .answer(marked(Response(status: 204, headers: ["Upload-Limit": limitField(lifetime: nil)])))
        case "GET", "HEAD":
            guard let bytes = objects[target] else { return .answer(Response(status: 404)) }
            return .answer(Response(headers: ["Content-Length": "\(bytes.count)"], body: .bytes(bytes)))
        default: return .answer(Response(status: 405))
        }
    }

    /// Handles a piece of a request's body.
    ///
    /// - Returns: The interim responses to send now.
    public mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        history.received += bytes.count
        guard var exchange = exchanges[id] else { return [] }
        defer { exchanges[id] = exchange }
        switch exchange.kind {
        case .superseded: return []
        case .plain(let method, let target, let headers, let before):
            exchange.kind = .plain(method: method, target: target, headers: headers, bytes: before + bytes)
            return []
        case .creation(let path), .append(let path):
            // The bytes are appended in place: a copy for every piece would make long uploads slow.
            guard uploads[path]?.isInvalid == false else { return [] }
            uploads[path]?.bytes += bytes
            let count = uploads[path]?.bytes.count ?? 0
            if count > uploads[path]?.length ?? .max || count > limits.maxSize ?? .max {
                uploads[path]?.isInvalid = true
            }
            guard sendsInterim, let interval = progressInterval, let left = exchange.untilProgress else { return [] }
            guard bytes.count >= left else {
                exchange.untilProgress = left - bytes.count
                return []
            }
            exchange.untilProgress = interval
            return [interim(["Upload-Offset": String(count)])]
        }
    }

    /// Handles the end of a request's body.
    ///
    /// - Returns: The final response.
    public mutating func end(_ id: Int, isWhole: Bool) -> Response {
        guard let exchange = exchanges.removeValue(forKey: id) else { return Response(status: 500) }
        switch exchange.kind {
        case .superseded: return marked(Response(status: 409, headers: ["Upload-Complete": "?0"]))
        case .plain(let method, let target, let headers, let bytes):
            guard isWhole else { return Response(status: 400) }
            return take(bytes, method: method, target: target, headers: headers)
        case .creation(let path), .append(let path):
            guard var upload = uploads[path] else { return gone }
            upload.running = nil
            uploads[path] = upload
            guard isWhole, !upload.isInvalid else {
                return marked(Response(status: 400, headers: ["Upload-Complete": "?0"]))
            }
            if exchange.isLast { return complete(path) }
            if case .creation = exchange.kind {
                return marked(Response(status: 201, headers: createdFields(upload)))
            }
            return marked(Response(status: 204, headers: appendedFields(upload)))
        }
    }

    // MARK: Exchanges

    mutating func read(_ id: Int, _ path: String, isCreation: Bool, isLast: Bool) {
        exchanges[id] = Exchange(
            kind: isCreation ? .creation(path) : .append(path), isLast: isLast, untilProgress: progressInterval)
        uploads[path]?.running = id
    }

    mutating func readPlain(_ id: Int, method: String, target: String, headers: HeaderFields) {
        exchanges[id] = Exchange(kind: .plain(method: method, target: target, headers: headers, bytes: []))
    }

    /// Ends the previous request. The draft says: "Terminating the previous request before processing the new request."
    mutating func supersede(_ path: String) {
        guard let running = uploads[path]?.running else { return }
        exchanges[running]?.kind = .superseded
        uploads[path]?.running = nil
    }

    mutating func add(method: String, target: String, headers: HeaderFields, length: Int?) -> Upload {
        created += 1
        let upload = Upload(
            path: "/uploads/u\(created)", method: method, target: target, headers: headers, length: length,
            expires: limits.lifetime.map { now + $0 })
        uploads[upload.path] = upload
        return upload
    }

    /// Stores a complete file, which is the target's own task.
    mutating func take(_ bytes: [UInt8], method: String, target: String, headers: HeaderFields) -> Response {
        if let targetError { return Response(status: targetError, body: .text("refused by the target\n")) }
        var path = target
        if method == "POST" {
            posted += 1
            path += (target.hasSuffix("/") ? "" : "/") + String(posted)
        }
        history.finished.append(Finished(path: path, method: method, headers: headers, bytes: bytes))
        history.objects[path] = bytes
        var response = Response(status: 201, headers: ["ETag": "\"\(finished.count)\""], body: .text("stored\n"))
        if method == "POST" { response.headers["Location"] = path }
        return response
    }
}
