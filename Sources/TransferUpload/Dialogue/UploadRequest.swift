public import TransferCore

/// A request of a dialogue.
public struct UploadRequest: Sendable, Hashable {
    /// The number that identifies the request within its dialogue.
    public var id: Int
    /// The method.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The protocol's own fields.
    ///
    /// The driver adds the job's own fields (credentials, `X-…`) that ``ownersFields`` admits and that are missing
    /// here. It does so only for requests to the origin that the job names.
    public var headers: [HeaderField]
    /// The body.
    public var body: Body
    /// The selection of the job's own fields.
    public var ownersFields: OwnersFields
    /// Whether redirects are followed with the body, by RFC 9110 §15.4; otherwise they are answers.
    public var followsRedirects: Bool
    /// The algorithm by which the answer is hashed instead of stored (``UploadAnswer/digest``), however long it is.
    public var digests: DigestAlgorithm?
    /// The algorithm of a digest that is made while the source's bytes are sent (``UploadAnswer/sums``).
    ///
    /// The algorithm is only used for a streamed source (``UploadSource/isStreamed``).
    public var sums: DigestAlgorithm?

    /// Creates a request.
    public init(
        id: Int, method: String, url: String, headers: [HeaderField] = [], body: Body = .none,
        ownersFields: OwnersFields = .apartFromContent, followsRedirects: Bool = true
    ) {
        self.id = id
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.ownersFields = ownersFields
        self.followsRedirects = followsRedirects
    }

    /// The body of a request.
    public enum Body: Sendable, Hashable {
        case none
        case bytes([UInt8])
        /// A range of the source, with bytes before and after it (a form's boundaries, a trailer's chunk).
        case source(Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = [])

        /// The number of the source's bytes.
        package var sourceLength: Int64 {
            if case .source(let range, _, _) = self { range.upperBound - range.lowerBound } else { 0 }
        }

        /// The length in bytes.
        public var length: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .source(let range, let prefix, let suffix):
                range.upperBound - range.lowerBound + Int64(prefix.count) + Int64(suffix.count)
            }
        }
    }
}

/// The source of an upload, as the protocols see it.
public struct UploadSource: Sendable, Hashable {
    /// The file's name, without its folders.
    public var name: String
    /// The length in bytes.
    public var size: Int64
    /// The digest of the whole file, where it is known beforehand.
    public var digest: Checksum?
    /// Whether the bytes may differ from those that earlier attempts sent.
    ///
    /// An upload with changed bytes is not continued, and the server is asked about it only where it may be complete.
    public var mayHaveChanged: Bool
    /// Whether the bytes come from another server while they are sent. Reading a range beforehand then costs as much as
    /// sending it.
    public var isStreamed = false
    /// The statements of the source's server about the file; `nil` for a local file.
    public var labels: RepresentationLabels?

    /// Creates the description of a source.
    public init(name: String, size: Int64, digest: Checksum? = nil, mayHaveChanged: Bool = false) {
        self.name = name
        self.size = size
        self.digest = digest
        self.mayHaveChanged = mayHaveChanged
    }
}
