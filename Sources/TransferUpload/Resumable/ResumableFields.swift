import FoundationEssentials
import TransferCore

/// The protocol's own fields of an answer. A field of another type counts as missing, as the draft demands.
struct ResumableFields: Sendable, Hashable {
    var version: Int64?
    var isComplete: Bool?
    var offset: Int64?
    var length: Int64?
    var limits: UploadLimits?
    var location: String?

    init(_ head: ResponseHead, version spoken: ResumableVersion) {
        let fields = head.fields
        version = Self.count(fields, "Upload-Draft-Interop-Version")
        offset = Self.count(fields, "Upload-Offset")
        length = Self.count(fields, "Upload-Length")
        if case .boolean(let value) = Self.item(fields, "Upload-Complete") { isComplete = value }
        limits = Self.joined(fields, "Upload-Limit").flatMap { UploadLimits($0, version: spoken) }
        location = fields.value("Location")
    }

    /// Returns the lines of one field as one value (RFC 9110 §5.2).
    static func joined(_ fields: [HeaderField], _ name: String) -> String? {
        let lines = fields.filter { $0.isNamed(name) }
        return lines.isEmpty ? nil : lines.map(\.value).joined(separator: ", ")
    }

    private static func item(_ fields: [HeaderField], _ name: String) -> StructuredField.Value? {
        joined(fields, name).flatMap { StructuredField.item($0) }
    }

    private static func count(_ fields: [HeaderField], _ name: String) -> Int64? {
        guard case .integer(let value) = item(fields, name), value >= 0 else { return nil }
        return value
    }
}

/// The types of problems (RFC 9457 §3.1.1) that the draft registers.
enum UploadProblem: String, Sendable {
    case mismatchingOffset = "https://iana.org/assignments/http-problem-types#mismatching-upload-offset"
    case inconsistentLength = "https://iana.org/assignments/http-problem-types#inconsistent-upload-length"
    /// A type of the drafts up to -05.
    case completedUpload = "https://iana.org/assignments/http-problem-types#completed-upload"

    init?(_ answer: UploadAnswer) {
        struct Details: Decodable {
            var type: String
        }
        guard let media = answer.head.value("Content-Type")?.lowercased(),
            media.hasPrefix("application/problem+json"),
            let details = try? JSONDecoder().decode(Details.self, from: Data(answer.body))
        else { return nil }
        self.init(rawValue: details.type)
    }
}
