/// A tus 1.0.0 server in memory, with creation, creation-with-upload, expiration, checksum, concatenation and
/// termination. It does exactly what the text of the protocol says.
///
/// Uploads are created at ``endpoint`` and then have the paths `endpoint/u1`, `endpoint/u2`, ….
public struct TusService: UploadService {
    /// The path at which uploads are created.
    public let endpoint: String
    /// The names of the supported extensions, as in Tus-Extension; others are refused.
    public var offers: Set<String> = [
        "creation", "creation-with-upload", "expiration", "checksum", "concatenation", "termination",
    ]
    /// The supported versions of the protocol, as in Tus-Version.
    public var versions = ["1.0.0"]
    /// The supported algorithms, as in Tus-Checksum-Algorithm: a selection of `sha1`, `md5` and `sha256`.
    public var checksums = ["sha1", "md5"]
    /// The maximum size of an upload in bytes; `nil` for none.
    public var maxSize: Int64?
    /// The time in seconds for which an upload is kept after its last request; `nil` for ever.
    public var lifetime: Int64?
    /// The current time in seconds since 1970, which only the test changes.
    public var now: Int64 = 1_800_000_000
    /// Whether expired and terminated uploads are answered with 410; otherwise with 404.
    public var remembersGone = true
    /// Whether parts are removed once they have been joined.
    public var removesJoinedParts = true
    /// The text before the path in Location: `https://host` for an absolute URL, empty for a path.
    public var locationPrefix = ""

    /// The existing uploads, in the order of their creation.
    public private(set) var uploads: [TusUpload] = []
    /// The number of body bytes received, whether they counted or not.
    public private(set) var received: Int64 = 0
    /// The requests so far, one line each: `PATCH /files/u1`.
    public private(set) var log: [String] = []

    var gone: Set<String> = []
    var writes: [Int: TusWrite] = [:]
    private var made = 0

    /// Creates a service without uploads.
    public init(endpoint: String = "/files") {
        self.endpoint = endpoint
    }

    /// The complete files for users of the server, without the parts from which others were joined.
    public var finished: [TusUpload] { uploads.filter { $0.isComplete && $0.kind != .partial } }

    /// Removes the bytes of an upload after an offset, like a server that lost its last data.
    public mutating func lose(_ id: String, after offset: Int64) {
        guard let index = index(of: id) else { return }
        uploads[index].bytes.removeLast(max(0, uploads[index].bytes.count - Int(offset)))
    }

    /// Removes an upload, or all for `nil`, without a request.
    public mutating func forget(_ id: String? = nil) {
        for upload in uploads where id == nil || upload.id == id { remove(upload.id) }
    }

    /// Handles the head of a request.
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

    /// Handles a piece of a request's body.
    ///
    /// - Returns: An empty array, since tus has no interim responses.
    public mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        received += Int64(bytes.count)
        take(id, bytes)
        return []
    }

    /// Handles the end of a request's body.
    ///
    /// - Returns: The final response.
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

    /// Removes the expired uploads; a connection that still writes keeps its upload.
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
