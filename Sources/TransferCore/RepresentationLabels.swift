/// The statements of a server about a file that belong to the file, and not to one transfer of it (RFC 9110 §8). A copy
/// carries them to its destination, as far as that can hold them.
public struct RepresentationLabels: Sendable, Hashable, Codable {
    /// With its parameters.
    public var type: String?
    /// The codings that the file is stored with, in the order in which they were applied.
    public var coding: String?
    public var disposition: String?
    public var language: String?
    /// When the file was last modified, in seconds since 1970.
    public var modified: Int64?

    public init(
        type: String? = nil, coding: String? = nil, disposition: String? = nil, language: String? = nil,
        modified: Int64? = nil
    ) {
        self.type = type
        self.coding = coding
        self.disposition = disposition
        self.language = language
        self.modified = modified
    }

    public init(_ head: ResponseHead) {
        func text(_ name: StaticString) -> String? { head.value(name).flatMap { $0.isEmpty ? nil : $0 } }
        type = text("Content-Type")
        coding = head.contentCoding.flatMap(Self.stored)
        disposition = text("Content-Disposition")
        language = text("Content-Language")
        modified = head.value("Last-Modified").flatMap { HTTPDate.parse($0) }
    }

    /// The fields of the content, for the request that makes the copy.
    public var contentFields: [HeaderField] {
        [
            ("Content-Type", type), ("Content-Encoding", coding), ("Content-Disposition", disposition),
            ("Content-Language", language),
        ].compactMap { name, value in value.map { HeaderField(name, $0) } }
    }

    /// The fields of the time of modification: RFC 9110 §8.8.2, and the one that servers of WebDAV keep (ownCloud's and
    /// Nextcloud's API).
    public var timeFields: [HeaderField] {
        modified.map { [HeaderField("Last-Modified", HTTPDate.format($0)), HeaderField("X-OC-Mtime", "\($0)")] } ?? []
    }

    /// Whether an answer's content has the same coding.
    public static func isSameCoding(_ one: String?, _ other: String?) -> Bool {
        one?.lowercased().filter { $0 != " " } == other?.lowercased().filter { $0 != " " }
    }

    /// Without `aws-chunked`, which frames the body of a request to S3 and is stored by servers that don't know it.
    private static func stored(_ coding: String) -> String? {
        let codings = coding.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        let kept = codings.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }
        return kept.isEmpty ? nil : kept.joined(separator: ", ")
    }
}
