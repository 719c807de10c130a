public import TransferCore

/// The offset at which a download continues, and the facts that permit it.
public struct ResumePoint: Sendable, Hashable {
    /// The number of existing bytes, or the offset of a part of the file (``isPart``). It is above 0 except for such a
    /// part.
    public var offset: Int64
    /// The bytes before ``offset`` that are requested again and compared.
    ///
    /// A file server's agreement to begin in the middle (FTP's 350) is no proof that it does.
    public var overlap: Int64 = 0
    /// The offset behind the last wanted byte; `nil` for all that follow.
    public var end: Int64?
    /// Whether only this part is wanted, while other exchanges fetch the rest.
    ///
    /// Every answer that is not exactly a part of the same version then fails the exchange.
    public var isPart = false
    /// Whether the request names the end of the part. File servers are not given one: bytes behind it are left unread.
    public var namesEnd = true
    /// The validator; `nil` for bytes of another mirror, whose validators mean nothing here.
    public var validator: Validator?
    /// The length of the whole file in bytes, where it is known.
    public var total: Int64?
    /// Whether a digest of the whole file will be checked, so that a mix of versions is detected.
    ///
    /// Bytes of another mirror may then be continued without a validator.
    public var isVerifiedByDigest: Bool
    /// Whether the caller vouches for bytes without known facts, so that they are continued without a validator.
    ///
    /// The bytes that follow them have a validator, by which later attempts continue.
    public var isVouchedFor = false
    /// The resource of the bytes and their validator; `nil` where it is unknown.
    public var place: AnsweredPlace?
    /// The URL of ``place`` with its secrets, which is asked before the request's own URL; `nil` asks the latter at
    /// once.
    public var placeURL: String?
    /// The content coding of the existing bytes, where it is known.
    public var contentCoding: String?
    /// The media type of the existing bytes, where it is known.
    public var mediaType: String?
    /// The earlier answers that contradicted the bytes.
    public var doubt: ResumeDoubt?
    /// Whether the bytes outlast answers that prove nothing; otherwise the first such answer begins the download anew.
    ///
    /// An answer that proves nothing fails the attempt. The same claim is believed only after
    /// `ResumeDoubt/confirmations` attempts. Another version is written beside the bytes until it is whole.
    public var outlastsOddAnswers: Bool

    /// Creates a point.
    public init(
        offset: Int64, validator: Validator?, total: Int64?, isVerifiedByDigest: Bool = false,
        place: AnsweredPlace? = nil, placeURL: String? = nil, outlastsOddAnswers: Bool = false
    ) {
        self.offset = offset
        self.validator = validator
        self.total = total
        self.isVerifiedByDigest = isVerifiedByDigest
        self.place = place
        self.placeURL = placeURL
        self.outlastsOddAnswers = outlastsOddAnswers
    }

    /// Creates the point of recorded bytes that are to be continued.
    public init(_ record: ResumeData, offset: Int64) {
        self.init(offset: offset, validator: record.validator, total: record.total, place: record.place)
        contentCoding = record.contentCoding
        mediaType = record.mediaType
        doubt = record.doubt
    }

    /// Returns the overlap that a URL needs; 0 where the answer itself reports its beginning.
    public static func overlap(of url: String, before offset: Int64) -> Int64 {
        FileServerURL.mayIgnoreOffsets(url) ? min(offset, mostOverlap) : 0
    }

    private static let mostOverlap: Int64 = 4 << 10

    /// Whether the bytes are continued without a matching validator.
    var needsNoValidator: Bool { isVerifiedByDigest || isVouchedFor && validator == nil }

    /// Whether all bytes exist, by the length.
    var isWhole: Bool { offset == total && !isPart }
}
