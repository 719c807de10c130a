public import TransferCore

/// One request of a dialogue.
public struct UploadRequest: Sendable, Hashable {
    /// Tells the requests of one dialogue apart.
    public var id: Int
    public var method: String
    /// Absolute.
    public var url: String
    /// The protocol's own fields. Of the owner's (credentials, `X-…`) the driver adds those that ``ownersFields`` admits
    /// and that aren't here already, where the request goes to the origin that the job names.
    public var headers: [HeaderField]
    public var body: Body
    public var ownersFields: OwnersFields
    /// Whether redirects are followed (as RFC 9110 §15.4 says, with the body); otherwise they are answers.
    public var followsRedirects: Bool
    /// The answer is hashed instead of kept (``UploadAnswer/digest``), however long it is.
    public var digests: DigestAlgorithm?
    /// The digest of the source's bytes is made while they are sent (``UploadAnswer/sums``), where the source is streamed
    /// (``UploadSource/isStreamed``).
    public var sums: DigestAlgorithm?

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

    public enum Body: Sendable, Hashable {
        case none
        case bytes([UInt8])
        /// Bytes of the source, and what stands before and after them (a form's boundaries, a trailer's chunk).
        case source(Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = [])

        /// Bytes of the source.
        package var sourceLength: Int64 {
            if case .source(let range, _, _) = self { range.upperBound - range.lowerBound } else { 0 }
        }

        /// Bytes.
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
    /// Bytes.
    public var size: Int64
    /// The digest of the whole file, where it's known beforehand.
    public var digest: Checksum?
    /// Nobody knows whether earlier attempts sent these bytes: what they sent isn't gone on with, and is asked about
    /// only where it may be complete.
    public var mayHaveChanged: Bool
    /// The bytes come from another server while they are sent: to read a range before costs as much as to send it.
    public var isStreamed = false
    /// The statements of the source's server about the file; `nil` for a file of this machine.
    public var labels: RepresentationLabels?

    public init(name: String, size: Int64, digest: Checksum? = nil, mayHaveChanged: Bool = false) {
        self.name = name
        self.size = size
        self.digest = digest
        self.mayHaveChanged = mayHaveChanged
    }
}
