import FoundationEssentials
import TransferCore

/// The protocol's own fields of an answer. A field that isn't of its type counts as missing, as the draft demands.
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

    /// The lines of one name, as one value (RFC 9110 §5.2).
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

/// A problem's type (RFC 9457 §3.1.1), of those that the draft registers.
enum UploadProblem: String, Sendable {
    case mismatchingOffset = "https://iana.org/assignments/http-problem-types#mismatching-upload-offset"
    case inconsistentLength = "https://iana.org/assignments/http-problem-types#inconsistent-upload-length"
    /// Until draft -05.
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

/// `Repr-Digest` (RFC 9530 §3).
enum ReprDigest {
    /// The algorithms that aren't deprecated, the strongest first.
    private static let names: [(key: String, algorithm: DigestAlgorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256),
    ]

    /// The field for a digest that is known; `nil` for algorithms that must not be used any more (§5).
    static func field(_ digest: Checksum) -> HeaderField? {
        guard let key = names.first(where: { $0.algorithm == digest.algorithm })?.key else { return nil }
        let digits = Array(digest.hex.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return HeaderField("Repr-Digest", "\(key)=:\(Data(bytes).base64EncodedString()):")
    }

    /// - Parameter preferred: Taken where the answer has it, because it can be compared.
    static func value(_ head: ResponseHead, preferred: DigestAlgorithm?) -> Checksum? {
        guard let field = ResumableFields.joined(head.fields, "Repr-Digest"),
            let members = StructuredField.dictionary(field)
        else { return nil }
        let digests = names.compactMap { name -> Checksum? in
            guard case .bytes(let bytes) = members[name.key] else { return nil }
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return Checksum(name.algorithm, hex: hex)
        }
        return digests.first { $0.algorithm == preferred } ?? digests.first
    }
}
