public import TransferCore

/// The version of a file on another server: the facts that identify it.
public struct RemoteVersion: Sendable, Hashable {
    /// The length in bytes.
    public var size: Int64
    /// The validator that the server gave, if any.
    public var validator: Validator?
    /// The statements of the server about the file.
    public var labels: RepresentationLabels

    /// Creates a version.
    public init(size: Int64, validator: Validator?, labels: RepresentationLabels = RepresentationLabels()) {
        self.size = size
        self.validator = validator
        self.labels = labels
    }

    /// Reads the version from an answer.
    ///
    /// - Returns: `nil` where the server does not report the length.
    init?(_ start: BodyStart) {
        guard let total = start.total else { return nil }
        self.init(size: total, validator: Validator(start.head), labels: RepresentationLabels(start.head))
    }

    /// Returns whether nothing in an answer contradicts this version.
    ///
    /// - Parameter isProven: Whether digests decide in the end, so that the length is enough.
    func isShown(by head: ResponseHead, total: Int64?, isProven: Bool) -> Bool {
        guard total == nil || total == size,
            RepresentationLabels.isSameCoding(RepresentationLabels(head).coding, labels.coding)
        else { return false }
        guard let validator, let shown = Validator(head) else { return isProven || validator == nil }
        return isProven ? true : validator.mayEqual(shown)
    }

    /// Returns the error of an answer that is not a newer version of the file either, by the rule for complete files: a
    /// page, or an answer that names no version.
    ///
    /// - Returns: `nil` for an answer that may be a newer version.
    func refusal(of head: ResponseHead) -> TransferError? {
        let type = labels.type.flatMap {
            ResponseHead(status: 200, fields: [HeaderField("Content-Type", $0)]).mediaType
        }
        let held = HeldFile(version: validator.map { HeldVersion($0, of: nil) }, length: size, mediaType: type)
        let reason = ReplacementRule.refusal(of: head, for: held, isSamePlace: true, decodes: false)
        return reason.map { TransferError(.badResponse, $0, isTransient: true) }
    }
}
