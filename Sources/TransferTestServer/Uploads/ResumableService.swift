/// A server of the draft "Resumable Uploads for HTTP", written from the text of -12 (interop version 8); with a switch
/// for what versions -04 and -05 (interop version 6) said otherwise, and one that makes it a plain server.
///
/// PUT stores under its target, POST under its target and a number. Uploads live under `/uploads/`. It has no clock:
/// ``now`` is whatever the test says.
public struct ResumableService: UploadService {
    public enum Dialect: Sendable, Equatable {
        case version8, version6
        /// Ignores the protocol's fields: every PUT and POST is what it looks like.
        case none

        var number: String? {
            switch self {
            case .version8: "8"
            case .version6: "6"
            case .none: nil
            }
        }
    }

    /// Bytes and seconds, as `Upload-Limit` announces them.
    public struct Limits: Sendable, Equatable {
        public var maxSize: Int?
        public var minSize: Int?
        public var maxAppendSize: Int?
        public var minAppendSize: Int?
        public var lifetime: Int64?

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

    /// A file that a target has taken.
    public struct Finished: Sendable {
        public let path: String
        public let method: String
        /// The fields of the request that began it.
        public let headers: HeaderFields
        public let bytes: [UInt8]
    }

    public struct SeenRequest: Sendable {
        public let method: String
        public let target: String
        public let headers: HeaderFields
    }

    public var dialect = Dialect.version8
    public var limits = Limits()
    /// Seconds; what ``Limits/lifetime`` is counted by.
    public var now: Int64 = 0
    /// Requests of other versions are answered 400, as Apple's server does; otherwise their fields are ignored.
    public var refusesOtherVersions = false
    /// Whether 104 is sent at all: not every server can.
    public var sendsInterim = true
    /// Bytes after which a 104 tells how far it is.
    public var progressInterval: Int?
    /// Whether a whole upload in the first request may exceed ``Limits/maxAppendSize``, which only says "might reject".
    public var refusesLongCreation = true
    /// Whether an upload can still be asked about when it's complete.
    public var keepsCompleted = true
    /// Whether answers say `Upload-Complete`, where the draft only recommends it.
    public var marksAnswers = true
    /// What targets answer to whole files instead of taking them.
    public var targetError: Int?

    /// Every time that a target took a file, in order: twice for a file that was sent twice.
    public var finished: [Finished] { history.finished }
    /// What is stored now, by path.
    public var objects: [String: [UInt8]] { history.objects }
    /// Bytes of bodies that arrived, of all requests.
    public var received: Int { history.received }
    public var requests: [SeenRequest] { history.requests }
    public var unfinished: Int { uploads.values.count { !$0.isComplete } }

    var uploads: [String: Upload] = [:]
    private var history = History()
    private var exchanges: [Int: Exchange] = [:]
    private var created = 0
    private var posted = 0

    public init(dialect: Dialect = .version8, limits: Limits = Limits()) {
        self.dialect = dialect
        self.limits = limits
    }

    /// As after a restart of a server that keeps nothing: every upload resource is gone.
    public mutating func forgetUploads() { uploads = [:] }

    /// Somebody has taken away what the targets had.
    public mutating func forgetObjects() { history.objects = [:] }

    /// What an upload has, by the path of its URL.
    public func offset(of path: String) -> Int? { uploads[path]?.bytes.count }

    /// Changes what an upload has, as only a faulty server would.
    public mutating func setBytes(_ bytes: [UInt8], of path: String) { uploads[path]?.bytes = bytes }

    struct Upload: Sendable {
        var path: String
        var method: String
        var target: String
        var headers: HeaderFields
        var bytes: [UInt8] = []
        var length: Int?
        var isComplete = false
        /// No more of it is taken: its length was exceeded.
        var isInvalid = false
        var final: Response?
        var expires: Int64?
        var running: Int?
    }

    /// All that has happened.
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
            /// Another request to the same upload came: "Concurrency".
            case superseded
        }
        var kind: Kind
        var isLast = false
        var untilProgress: Int?
    }

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
            return .answer(Response(body: method == "GET" ? .bytes(bytes) : .empty))
        default: return .answer(Response(status: 405))
        }
    }

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
            // Changed where it lies: a copy for every piece would make long uploads slow.
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

    // MARK: What the other parts need of the exchanges

    mutating func read(_ id: Int, _ path: String, isCreation: Bool, isLast: Bool) {
        exchanges[id] = Exchange(
            kind: isCreation ? .creation(path) : .append(path), isLast: isLast, untilProgress: progressInterval)
        uploads[path]?.running = id
    }

    mutating func readPlain(_ id: Int, method: String, target: String, headers: HeaderFields) {
        exchanges[id] = Exchange(kind: .plain(method: method, target: target, headers: headers, bytes: []))
    }

    /// "Terminating the previous request before processing the new request."
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

    /// The target's own work.
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
