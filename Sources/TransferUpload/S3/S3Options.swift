public import TransferCore

/// How an object is uploaded.
public struct S3Options: Sendable, Hashable {
    /// Files of up to this many bytes go in one request.
    public var threshold: Int64
    /// Bytes of a part; grown where a file would have more than 10,000. `nil` leaves it to the file's size.
    public var partSize: Int64?
    /// The least size, in bytes, that the server demands of every part but the last; 5 MiB at AWS.
    public var minimumPartSize: Int64
    /// Parts that are sent at a time. `nil` leaves it to the link: ``UploadSpread/initial`` at first, up to
    /// `ConnectionGrowth.most` while more are faster.
    public var parallel: Int?
    public var integrity: Integrity
    /// The owner's fields: metadata, Content-Type, `x-amz-…`. Sent, and those that are S3's signed, with the request that
    /// makes the object, and with others where S3 wants them there too.
    public var headers: [HeaderField]
    /// Fields of the source's server, for the request that makes the object, where the owner has none of the name.
    public var labels: [HeaderField] = []

    public init(
        threshold: Int64 = 16 << 20, partSize: Int64? = nil, minimumPartSize: Int64 = 5 << 20, parallel: Int? = nil,
        integrity: Integrity = .sha256, headers: [HeaderField] = []
    ) {
        self.threshold = threshold
        self.partSize = partSize
        self.minimumPartSize = minimumPartSize
        self.parallel = parallel
        self.integrity = integrity
        self.headers = headers
    }

    /// The proof for the server that the bytes which arrive are those that were read.
    public enum Integrity: String, Sendable, Hashable {
        /// Nothing but TLS, without which AWS doesn't take it; the source is read once only.
        case none
        /// Content-MD5, for servers that know nothing newer.
        case md5
        /// A SHA-256 digest of every request's body in its signature.
        case sha256
        /// The same, kept by the server beside the object too (`x-amz-checksum-sha256`).
        case storedSHA256 = "stored-sha256"

        var digest: DigestAlgorithm? {
            switch self {
            case .none: nil
            case .md5: .md5
            case .sha256, .storedSHA256: .sha256
            }
        }
    }

    /// The most that one request can carry, and a part can have (S3's quotas).
    static let maxRequestSize: Int64 = 5 << 30
    static let maxParts: Int64 = 10_000
}
