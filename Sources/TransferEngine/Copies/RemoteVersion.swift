public import TransferCore

/// The version of what another server has: the facts by which it's known again.
public struct RemoteVersion: Sendable, Hashable {
    /// Bytes.
    public var size: Int64
    public var validator: Validator?
    /// The media type that its server told, without parameters.
    public var mediaType: String?

    public init(size: Int64, validator: Validator?, mediaType: String? = nil) {
        self.size = size
        self.validator = validator
        self.mediaType = mediaType
    }

    /// - Returns: `nil` where the server doesn't tell the length.
    init?(_ start: BodyStart) {
        guard let total = start.total else { return nil }
        self.init(size: total, validator: Validator(start.head), mediaType: start.head.mediaType)
    }

    /// Whether an answer is of this version, as far as it shows.
    ///
    /// - Parameter isProven: Digests decide in the end, so that the length is enough.
    func isShown(by head: ResponseHead, total: Int64?, isProven: Bool) -> Bool {
        guard total == nil || total == size else { return false }
        guard let validator, let shown = Validator(head) else { return isProven || validator == nil }
        return isProven ? true : validator.mayEqual(shown)
    }
}
