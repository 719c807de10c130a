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
    /// Whether the body is coded (RFC 9110 §8.4): what the sink gets is then decoded, or coded bytes.
    public let isCoded: Bool
    /// Why bytes that were there are given up.
    public let restart: String?

    public init(head: ResponseHead, offset: Int64, total: Int64?, url: String = "", restart: String? = nil) {
        self.url = url
        self.head = head
        self.offset = offset
        self.total = total
        self.restart = restart
        // A length is only known of a body that isn't coded.
        isCoded = total == nil && head.contentCoding != nil
    }
}
