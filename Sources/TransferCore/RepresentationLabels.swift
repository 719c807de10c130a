/// The metadata that a server reports for a file, as opposed to a single transfer of it (RFC 9110 §8). A copy passes it
/// on to its destination, to the extent that the destination can store it.
public struct RepresentationLabels: Sendable, Hashable, Codable {
    /// The media type with its parameters.
    public var type: String?
    /// The codings in which the file is stored, in the order in which they were applied.
    public var coding: String?
    /// The Content-Disposition of the file.
    public var disposition: String?
    /// The Content-Language of the file.
    public var language: String?
    /// The time of the last modification, in seconds since 1970.
    public var modified: Int64?

    /// Creates labels; `modified` is in seconds since 1970.
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

    /// Creates labels from the head of a response.
    public init(_ head: ResponseHead) {
        func text(_ name: StaticString) -> String? { head.value(name).flatMap { $0.isEmpty ? nil : $0 } }
        type = text("Content-Type")
        coding = head.contentCoding.flatMap(Self.stored)
        disposition = text("Content-Disposition")
        language = text("Content-Language")
        modified = head.value("Last-Modified").flatMap { HTTPDate.parse($0) }
    }

    /// The fields of the content, for the request that creates the copy.
    public var contentFields: [HeaderField] {
        [
            ("Content-Type", type), ("Content-Encoding", coding), ("Content-Disposition", disposition),
            ("Content-Language", language),
        ].compactMap { name, value in value.map { HeaderField(name, $0) } }
    }

    /// The fields of the modification time: that of RFC 9110 §8.8.2, and the one that WebDAV servers store (ownCloud's
    /// and Nextcloud's API).
    public var timeFields: [HeaderField] {
        modified.map { [HeaderField("Last-Modified", HTTPDate.format($0)), HeaderField("X-OC-Mtime", "\($0)")] } ?? []
    }

    /// Returns whether two responses have the same content coding.
    public static func isSameCoding(_ one: String?, _ other: String?) -> Bool {
        one?.lowercased().filter { $0 != " " } == other?.lowercased().filter { $0 != " " }
    }

    /// Returns the coding without `aws-chunked`, which only frames the body of a request to S3. Servers that do not
    /// know it store it.
    private static func stored(_ coding: String) -> String? {
        let codings = coding.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        let kept = codings.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }
        return kept.isEmpty ? nil : kept.joined(separator: ", ")
    }
}
