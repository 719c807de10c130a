/// One upload that a ``TusService`` holds.
public struct TusUpload: Sendable {
    /// What its URL ends in.
    public let id: String
    public internal(set) var length: Int64
    /// All that was received, also of bodies that were cut.
    public internal(set) var bytes: [UInt8]
    /// Upload-Metadata, decoded.
    public let metadata: [String: String]
    public let kind: Kind
    /// Seconds since 1970.
    public internal(set) var expires: Int64?

    let metadataField: String?
    /// The request that writes to it.
    var writer: Int?

    public enum Kind: Sendable, Equatable {
        case whole, partial
        /// Made of other uploads: the value of Upload-Concat.
        case final(String)
    }

    public var offset: Int64 { Int64(bytes.count) }
    public var isComplete: Bool { offset == length }

    /// What a HEAD answers, and a PATCH a part of.
    var fields: HeaderFields {
        var fields: HeaderFields = [
            "Upload-Offset": "\(offset)", "Upload-Length": "\(length)", "Cache-Control": "no-store",
        ]
        fields["Upload-Metadata"] = metadataField
        fields["Upload-Expires"] = expiresField
        switch kind {
        case .whole: break
        case .partial: fields["Upload-Concat"] = "partial"
        case .final(let list): fields["Upload-Concat"] = list
        }
        return fields
    }

    var expiresField: String? { isComplete ? nil : expires.map { HTTPDate.string(Int($0)) } }

    /// - Returns: `nil` for what Upload-Metadata can't be (tus 1.0.0, "Creation").
    static func metadata(_ field: String) -> [String: String]? {
        var result: [String: String] = [:]
        for pair in field.split(separator: ",", omittingEmptySubsequences: false) {
            let words = pair.trimmingSpaces.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard let name = words.first, !name.isEmpty, words.count <= 2, result[name] == nil,
                let value = Base64.decoded(words.count == 2 ? words[1] : "")
            else { return nil }
            result[name] = String(decoding: value, as: UTF8.self)
        }
        return result
    }
}
