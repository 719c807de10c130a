public import TransferCore

/// Options of a resumable upload.
public struct ResumableOptions: Sendable, Hashable {
    /// How the upload begins (draft-ietf-httpbis-resumable-upload, "Upload Strategies").
    public enum Mode: Sendable, Hashable {
        /// The upload is created by a request without content, and nothing is sent before its URL is known and saved.
        /// For servers that are known to support resumable uploads: another one stores an empty file.
        case careful
        /// A plain request with the whole content, which a server that can may make resumable on the way. For any
        /// server: one that offers nothing answers it as ever.
        case upgrade
    }

    /// The URL that is uploaded to; absolute.
    public var url: String
    /// The method of the request that begins the upload: PUT, POST, or another that carries content.
    public var method: String
    public var mode: Mode
    /// Bytes; the most that one request carries, where it may carry less than the rest. `nil`: the whole rest. The first
    /// request of ``Mode/upgrade`` carries everything.
    public var chunkSize: Int64?
    /// The representation's own fields (Content-Type, …), sent with the request that begins the upload.
    public var headers: [HeaderField]
    /// Whether the server is asked for the digest of what it got (`Want-Repr-Digest`, RFC 9530 §4).
    public var wantsDigest: Bool

    public init(
        url: String, method: String = "PUT", mode: Mode = .careful, chunkSize: Int64? = nil,
        headers: [HeaderField] = [], wantsDigest: Bool = false
    ) {
        self.url = url
        self.method = method
        self.mode = mode
        self.chunkSize = chunkSize
        self.headers = headers
        self.wantsDigest = wantsDigest
    }

    /// RFC 9110 §9.2.2: whether it does no harm when the target is given the same content twice.
    var isIdempotent: Bool { RetryRule.idempotentMethods.contains(method) }
}
