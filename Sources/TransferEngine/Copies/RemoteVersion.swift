public import TransferCore

/// The version of what another server has: the facts by which it's known again.
public struct RemoteVersion: Sendable, Hashable {
    /// Bytes.
    public var size: Int64
    public var validator: Validator?
    /// The statements of its server about the file.
    public var labels: RepresentationLabels

    public init(size: Int64, validator: Validator?, labels: RepresentationLabels = RepresentationLabels()) {
        self.size = size
        self.validator = validator
        self.labels = labels
    }

    /// - Returns: `nil` where the server doesn't tell the length.
    init?(_ start: BodyStart) {
        guard let total = start.total else { return nil }
        self.init(size: total, validator: Validator(start.head), labels: RepresentationLabels(start.head))
    }

    /// Whether an answer is of this version, as far as it shows.
    ///
    /// - Parameter isProven: Digests decide in the end, so that the length is enough.
    func isShown(by head: ResponseHead, total: Int64?, isProven: Bool) -> Bool {
        guard total == nil || total == size,
            RepresentationLabels.isSameCoding(RepresentationLabels(head).coding, labels.coding)
        else { return false }
        guard let validator, let shown = Validator(head) else { return isProven || validator == nil }
        return isProven ? true : validator.mayEqual(shown)
    }
}
