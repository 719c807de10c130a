/// An upload of a ``TusService``.
public struct TusUpload: Sendable {
    /// The last component of the upload's URL.
    public let id: String
    /// The declared length in bytes.
    public internal(set) var length: Int64
    /// The bytes received, including those of incomplete bodies.
    public internal(set) var bytes: [UInt8]
    /// The decoded Upload-Metadata.
    public let metadata: [String: String]
    /// The kind of the upload.
    public let kind: Kind
    /// The time of expiration in seconds since 1970; `nil` for none.
    public internal(set) var expires: Int64?

    let metadataField: String?
    /// The ID of the request that writes to the upload; `nil` for none.
    var writer: Int?

    /// The kind of an upload: whole, a part, or joined from parts.
    public enum Kind: Sendable, Equatable {
        case whole, partial
        /// An upload joined from others; the text is the value of Upload-Concat.
        case final(String)
    }

    /// The number of bytes received.
    public var offset: Int64 { Int64(bytes.count) }
    /// Whether all bytes have been received.
    public var isComplete: Bool { offset == length }

    /// The fields of the response to HEAD, some of which PATCH uses too.
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

    /// Parses metadata.
    ///
    /// - Returns: `nil` for an invalid value of Upload-Metadata (tus 1.0.0, "Creation").
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
