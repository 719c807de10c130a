public import TransferCore

/// The options of a resumable upload.
public struct ResumableOptions: Sendable, Hashable {
    /// The way in which the upload begins (draft-ietf-httpbis-resumable-upload, "Upload Strategies").
    public enum Mode: Sendable, Hashable {
        /// The upload is created by a request without content. No byte is sent before its URL is known and saved.
        ///
        /// The mode is for servers that are known to support resumable uploads: others store an empty file.
        case careful
        /// A plain request has the whole content, and a server with support makes it resumable meanwhile.
        ///
        /// The mode is for any server: one without support answers the request normally.
        case upgrade
    }

    /// The absolute URL of the target.
    public var url: String
    /// The method of the request that begins the upload: PUT, POST, or another that carries content.
    public var method: String
    /// The way in which the upload begins.
    public var mode: Mode
    /// The most bytes of one request; `nil` sends the whole rest. The first request of ``Mode/upgrade`` always carries
    /// the whole content.
    public var chunkSize: Int64?
    /// The representation's own fields (Content-Type, …), sent with the request that begins the upload.
    public var headers: [HeaderField]
    /// Whether the server is asked for the digest of the stored content (`Want-Repr-Digest`, RFC 9530 §4).
    public var wantsDigest: Bool

    /// Creates options.
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

    /// Whether the target may get the same content twice without harm (RFC 9110 §9.2.2).
    var isIdempotent: Bool { RetryRule.idempotentMethods.contains(method) }
}
