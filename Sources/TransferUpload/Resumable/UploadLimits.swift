/// The limits that a server has announced, in bytes and seconds (draft-ietf-httpbis-resumable-upload, "Limits").
struct UploadLimits: Sendable, Hashable {
    var maxSize: Int64?
    var minSize: Int64?
    var maxAppendSize: Int64?
    var minAppendSize: Int64?
    /// The remaining lifetime of the upload, in seconds from the answer.
    var lifetime: Int64?

    init() {}

    /// Parses a field.
    ///
    /// - Returns: `nil` for a field that must be ignored as a whole. It is malformed, or a known member has another
    ///   type than the draft demands. Members with other keys are ignored.
    init?(_ field: String, version: ResumableVersion) {
        guard let members = StructuredField.dictionary(field) else { return nil }
        var known: [String: Int64] = [:]
        for key in ["max-size", "min-size", "max-append-size", "min-append-size", version.lifetimeMember] {
            guard let member = members[key] else { continue }
            guard case .integer(let value) = member, value >= 0 else { return nil }
            known[key] = value
        }
        maxSize = known["max-size"]
        minSize = known["min-size"]
        maxAppendSize = known["max-append-size"]
        minAppendSize = known["min-append-size"]
        lifetime = known[version.lifetimeMember]
    }

    /// Takes over the limits of a later answer, and keeps the others.
    mutating func update(_ later: UploadLimits) {
        maxSize = later.maxSize ?? maxSize
        minSize = later.minSize ?? minSize
        maxAppendSize = later.maxAppendSize ?? maxAppendSize
        minAppendSize = later.minAppendSize ?? minAppendSize
        lifetime = later.lifetime
    }
}
