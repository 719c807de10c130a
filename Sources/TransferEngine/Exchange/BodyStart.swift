public import TransferCore

/// The description of an answer's body and its place in the file.
///
/// The type is a class, because the value is kept in several places and is large.
public final class BodyStart: Sendable {
    /// The head of the answer.
    public let head: ResponseHead
    /// The URL that answered, with its fragment; not redacted.
    public let url: String
    /// The offset of the body's first byte in the file.
    public let offset: Int64
    /// The length of the whole file; `nil` when the server does not report it, or encodes the body.
    public let total: Int64?
    /// The bytes behind ``offset`` that exist already: received bytes are compared with them.
    public let overlap: Int64
    /// Whether the body is coded (RFC 9110 §8.4). The sink then gets decoded or coded bytes.
    public let isCoded: Bool
    /// Whether the sink gets the bytes in the form in which ranges count.
    public let isContinuable: Bool
    /// The reason why existing bytes are discarded.
    public let restart: String?
    /// Whether discarded bytes are kept beside the new ones until the new file is whole.
    public let setsAside: Bool
    /// Whether the credentials of the settings were sent to ``url``, or could have been.
    public let takesCredentials: Bool

    /// Creates a description.
    ///
    /// - Parameter isContinuable: Whether ranges count in the delivered bytes; `nil` derives it for bodies without a
    ///   coding.
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
        // A length is known only of a body that has no coding, or whose coding stays.
        isCoded = total == nil && head.contentCoding != nil
    }

    /// The bytes of the file that existed before and stay.
    public var continued: Int64 { offset + overlap }

    /// The resource that answered.
    public var place: AnsweredPlace { AnsweredPlace(url: url, takesCredentials: takesCredentials) }
}
