public import TransferCore

/// The offset at which a download goes on, and the facts by which it does.
public struct ResumePoint: Sendable, Hashable {
    /// Bytes that are there, or where a part of the file begins (``isPart``); above 0 but for such a part.
    public var offset: Int64
    /// Bytes before ``offset`` that are asked for once more and compared: a file server's agreement to begin in the middle
    /// (FTP's 350) is no proof that it does.
    public var overlap: Int64 = 0
    /// The offset behind the last byte that is wanted; `nil` for everything that follows.
    public var end: Int64?
    /// Whether only this part is wanted, while other exchanges fetch the rest: every answer that isn't exactly a part of
    /// the same version fails the exchange.
    public var isPart = false
    /// Whether the server is told where the part ends. File servers aren't: what comes behind it is left unread.
    public var namesEnd = true
    /// `nil` for bytes of another mirror, whose validators mean nothing here.
    public var validator: Validator?
    public var total: Int64?
    /// Whether a digest of the whole file will be checked, so that bytes of another mirror may be continued without a
    /// validator: a mix can't pass.
    public var isVerifiedByDigest: Bool
    /// Whether somebody vouches for bytes of which nothing is known: they're continued without a validator. What comes
    /// behind them has one, by which it goes on.
    public var isVouchedFor = false
    /// The resource that the bytes and their validator are of; `nil` where nobody knows.
    public var place: AnsweredPlace?
    /// The URL of ``place`` with its secrets, to be asked before the request's own; `nil` asks the request's own at once.
    public var placeURL: String?
    public var contentCoding: String?
    public var mediaType: String?
    /// Earlier answers that spoke against the bytes.
    public var doubt: ResumeDoubt?
    /// Whether the bytes outlast answers that prove nothing: such an answer fails the attempt, the same claim is believed
    /// only after `ResumeDoubt/confirmations` attempts, and another version is written beside the bytes until it's whole.
    /// Otherwise the download begins anew at the first of them.
    public var outlastsOddAnswers: Bool

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

    /// Makes the point of a record of bytes that are to be continued.
    public init(_ record: ResumeData, offset: Int64) {
        self.init(offset: offset, validator: record.validator, total: record.total, place: record.place)
        contentCoding = record.contentCoding
        mediaType = record.mediaType
        doubt = record.doubt
    }

    /// The overlap that a URL needs; 0 where the answer itself tells where it begins.
    public static func overlap(of url: String, before offset: Int64) -> Int64 {
        FileServerURL.mayIgnoreOffsets(url) ? min(offset, mostOverlap) : 0
    }

    private static let mostOverlap: Int64 = 4 << 10

    /// Whether the bytes are continued without a validator that fits.
    var needsNoValidator: Bool { isVerifiedByDigest || isVouchedFor && validator == nil }

    /// Whether every byte is there, as far as the length tells.
    var isWhole: Bool { offset == total && !isPart }
}
