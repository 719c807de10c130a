/// A tus 1.0.0 server in memory, with creation, creation-with-upload, expiration, checksum, concatenation and
/// termination: what it does is what the protocol's text says, and nothing that the text doesn't.
///
/// Uploads are made at ``endpoint`` and then are at `endpoint/u1`, `endpoint/u2`, ….
public struct TusService: UploadService {
    public let endpoint: String
    /// The names of extensions, as Tus-Extension has them; the others are refused.
    public var offers: Set<String> = [
        "creation", "creation-with-upload", "expiration", "checksum", "concatenation", "termination",
    ]
    public var versions = ["1.0.0"]
    /// As Tus-Checksum-Algorithm names them: of `sha1`, `md5` and `sha256`.
    public var checksums = ["sha1", "md5"]
    /// Bytes.
    public var maxSize: Int64?
    /// How long an upload is kept after its last request, in seconds; `nil`: for ever.
    public var lifetime: Int64?
    /// Seconds since 1970. Nothing moves it but the test.
    public var now: Int64 = 1_800_000_000
    /// Whether it answers 410 for what expired or was terminated; otherwise 404.
    public var remembersGone = true
    /// Whether the parts are removed once they are joined.
    public var removesJoinedParts = true
    /// What stands before the path in Location: `https://host` for an absolute URL, empty for a path.
    public var locationPrefix = ""

    /// Those that are there, in the order in which they were made.
    public private(set) var uploads: [TusUpload] = []
    /// Bytes of bodies that arrived, whatever became of them.
    public private(set) var received: Int64 = 0
    /// What was asked, one line a request: `PATCH /files/u1`.
    public private(set) var log: [String] = []

    var gone: Set<String> = []
    var writes: [Int: TusWrite] = [:]
    private var made = 0

    public init(endpoint: String = "/files") {
        self.endpoint = endpoint
    }

    /// What users of the server would see: whole files, without the parts that others were made of.
    public var finished: [TusUpload] { uploads.filter { $0.isComplete && $0.kind != .partial } }

    /// The server loses the end of what it had.
    public mutating func lose(_ id: String, after offset: Int64) {
        guard let index = index(of: id) else { return }
        uploads[index].bytes.removeLast(max(0, uploads[index].bytes.count - Int(offset)))
    }

    /// The server forgets an upload, or all.
    public mutating func forget(_ id: String? = nil) {
        for upload in uploads where id == nil || upload.id == id { remove(upload.id) }
    }

    public mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        let method = headers["X-HTTP-Method-Override"] ?? method
        let path = String(target.prefix { $0 != "?" })
        log.append("\(method) \(path)")
        if method == "OPTIONS" { return .answer(answer(204, features)) }
        guard let version = headers["Tus-Resumable"], versions.contains(version) else {
            return .answer(answer(412, ["Tus-Version": versions.joined(separator: ",")]))
        }
        removeExpired()
        if path == endpoint || path == endpoint + "/" {
            return method == "POST" ? create(id, headers) : .answer(answer(405))
        }
        guard path.hasPrefix(endpoint + "/") else { return .answer(answer(404)) }
        let name = String(path.dropFirst(endpoint.count + 1))
        guard let index = index(of: name) else {
            return .answer(answer(remembersGone && gone.contains(name) ? 410 : 404))
        }
        switch method {
        case "HEAD": return .answer(answer(200, uploads[index].fields))
        case "PATCH": return patch(id, index, headers)
        case "DELETE" where offers.contains("termination"):
            guard uploads[index].writer == nil else { return .answer(answer(423)) }
            remove(name)
            return .answer(answer(204))
        default: return .answer(answer(405))
        }
    }

    public mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        received += Int64(bytes.count)
        take(id, bytes)
        return []
    }

    public mutating func end(_ id: Int, isWhole: Bool) -> Response { finish(id, isWhole: isWhole) }

    mutating func add(_ length: Int64, _ metadata: [String: String], field: String?, _ kind: TusUpload.Kind) -> Int {
        made += 1
        uploads.append(
            TusUpload(
                id: "u\(made)", length: length, bytes: [], metadata: metadata, kind: kind,
                expires: lifetime.map { now + $0 },
                metadataField: field, writer: nil))
        return uploads.count - 1
    }

    mutating func remove(_ name: String) {
        uploads.removeAll { $0.id == name }
        gone.insert(name)
    }

    mutating func change(_ index: Int, _ body: (inout TusUpload) -> Void) { body(&uploads[index]) }

    func index(of name: String) -> Int? { uploads.firstIndex { $0.id == name } }

    /// A connection that still writes keeps an upload alive.
    private mutating func removeExpired() {
        for upload in uploads where !upload.isComplete && upload.writer == nil {
            if let expires = upload.expires, expires <= now { remove(upload.id) }
        }
    }

    func answer(_ status: Int, _ fields: HeaderFields = [:]) -> Response {
        Response(
            status: status,
            headers: HeaderFields(dictionaryLiteral: ("Tus-Resumable", versions.first ?? "")).overridden(by: fields))
    }

    private var features: HeaderFields {
        var fields: HeaderFields = ["Tus-Version": versions.joined(separator: ",")]
        if !offers.isEmpty { fields["Tus-Extension"] = offers.sorted().joined(separator: ",") }
        if offers.contains("checksum") { fields["Tus-Checksum-Algorithm"] = checksums.joined(separator: ",") }
        fields["Tus-Max-Size"] = maxSize.map { "\($0)" }
        return fields
    }
}
