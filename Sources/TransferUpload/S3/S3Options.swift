public import TransferCore

/// The options of an object's upload.
public struct S3Options: Sendable, Hashable {
    /// The longest file in bytes that is sent in one request.
    public var threshold: Int64
    /// The length of a part in bytes; `nil` derives it from the file's size. It grows where a file would have more than
    /// 10,000 parts.
    public var partSize: Int64?
    /// The least size, in bytes, that the server demands of every part but the last; 5 MiB at AWS.
    public var minimumPartSize: Int64
    /// The number of parts that are sent concurrently; `nil` leaves it to the link.
    ///
    /// The link begins with ``UploadSpread/initial``, and has up to `ConnectionGrowth.most` while more are faster.
    public var parallel: Int?
    /// The proof of integrity.
    public var integrity: Integrity
    /// The job's own fields: metadata, Content-Type, `x-amz-…`.
    ///
    /// The fields are sent with the request that makes the object, and with others where S3 requires that. S3's own fields
    /// are signed.
    public var headers: [HeaderField]
    /// The fields of the source's server for the request that makes the object, where the job has none of the name.
    public var labels: [HeaderField] = []

    /// Creates options.
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

    /// The proof to the server that the received bytes are those that were read.
    public enum Integrity: String, Sendable, Hashable {
        /// TLS is the only proof, and AWS requires it; the source is read only once.
        case none
        /// Content-MD5 is sent, for servers without a newer method.
        case md5
        /// The signature has a SHA-256 digest of every request's body.
        case sha256
        /// The signature has a SHA-256 digest, which the server stores beside the object too (`x-amz-checksum-sha256`).
        case storedSHA256 = "stored-sha256"

        var digest: DigestAlgorithm? {
            switch self {
            case .none: nil
            case .md5: .md5
            case .sha256, .storedSHA256: .sha256
            }
        }
    }

    /// The most bytes of one request, and of a part (S3's quotas).
    static let maxRequestSize: Int64 = 5 << 30
    static let maxParts: Int64 = 10_000
}
