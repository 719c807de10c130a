public import TransferCore

/// Where the body of an answer belongs. A class, as it's kept in several places and is large.
public final class BodyStart: Sendable {
    public let head: ResponseHead
    /// The URL that answered, with its fragment; not redacted.
    public let url: String
    /// The place of its first byte in the file.
    public let offset: Int64
    /// The length of the whole file; `nil` when the server doesn't say, or encodes it.
    public let total: Int64?
    /// Bytes behind ``offset`` that are there already: those that come are compared with them.
    public let overlap: Int64
    /// Whether the body is coded (RFC 9110 §8.4): what the sink gets is then decoded, or coded bytes.
    public let isCoded: Bool
    /// Whether the sink gets the bytes in the form that ranges count in.
    public let isContinuable: Bool
    /// Why bytes that were there are given up.
    public let restart: String?
    /// Whether bytes that are given up are kept beside the new ones until those are whole.
    public let setsAside: Bool
    /// Whether the owner's credentials went along to ``url``, or could have.
    public let takesCredentials: Bool

    /// - Parameter isContinuable: `nil` for bodies that aren't coded.
    public init(
        head: ResponseHead, offset: Int64, total: Int64?, url: String = "", overlap: Int64 = 0,
        isContinuable: Bool? = nil, restart: String? = nil, setsAside: Bool = false, takesCredentials: Bool = true
    ) {
        self.url = url
        self.head = head
        self.offset = offset
        self.total = total
        self.overlap = overlap
        self.restart = restart
        self.setsAside = setsAside
        self.takesCredentials = takesCredentials
        self.isContinuable = isContinuable ?? (head.contentCoding == nil)
        // A length is only known of a body that isn't coded, or isn't to be decoded.
        isCoded = total == nil && head.contentCoding != nil
    }

    /// Bytes of the file that were there and stay.
    public var continued: Int64 { offset + overlap }

    /// The resource that answered.
    public var place: AnsweredPlace { AnsweredPlace(url: url, takesCredentials: takesCredentials) }
}
