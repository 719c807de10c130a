import TransferCore

/// The known facts about a complete file, by which a later answer is judged before it replaces the file.
///
/// `ResumePoint` has the same facts about a partial file. `ReplacementRule` and `ResumeRule` judge answers by them.
public struct HeldFile: Sendable, Hashable {
    /// The version that its server named, with the resource that named it; `nil` where the server named none.
    public var version: HeldVersion?
    /// The length in bytes.
    public var length: Int64
    /// The media type of the answer that brought the file; `nil` where it is not recorded.
    public var mediaType: String?
    /// The content coding of the file; `nil` where it is not recorded, empty for none.
    public var contentCoding: String?
    /// Whether the file's first bytes exclude an HTML page.
    public var isBinary: Bool
    /// Whether only the same bytes may replace the file, as when it is repaired.
    public var mustBeSame: Bool

    /// Creates the facts about a file.
    public init(
        version: HeldVersion?, length: Int64, mediaType: String? = nil, contentCoding: String? = nil,
        isBinary: Bool = false, mustBeSame: Bool = false
    ) {
        self.version = version
        self.length = length
        self.mediaType = mediaType
        self.contentCoding = contentCoding
        self.isBinary = isBinary
        self.mustBeSame = mustBeSame
    }
}

/// The pure rule for an answer that is to replace a complete file.
///
/// | Fact about the file | An answer that is refused |
/// |---|---|
/// | version | names no version |
/// | version | is of the same version, and has another length or another content coding |
/// | content coding | has another coding, for which the request did not ask |
/// | media type, or first bytes | is a page of HTML, and the file is none |
/// | length | is empty and names no version |
/// | sums (repair) | reports another length; its bytes are compared when all have come |
///
/// Any other answer of another version replaces the file: its server says that the file changed.
enum ReplacementRule {
    /// Judges the head of an answer.
    ///
    /// - Parameters:
    ///   - isSamePlace: Whether the answer comes from the resource that named the file's version.
    ///   - decodes: Whether codings are removed on the way to the file.
    ///   - headers: The fields of the request, which may ask for codings.
    /// - Returns: The reason of a refusal; `nil` for an answer that may replace the file.
    static func refusal(
        of head: ResponseHead, for file: HeldFile, isSamePlace: Bool, decodes: Bool, headers: [HeaderField] = []
    ) -> String? {
        let new = Validator(head)
        let length = head.value("Transfer-Encoding") == nil ? head.contentLength : nil
        if isPage(head, instead: file, new) { return "a page of HTML came instead of the file" }
        if length == 0, file.length > 0, new == nil { return "an empty answer came instead of the file" }
        if file.version != nil, new == nil {
            return "the answer\(words(head, length)) does not say of which version it is"
        }
        let coding = head.contentCoding?.lowercased()
        let isPlain = coding == nil && (file.contentCoding ?? "").isEmpty
        if let old = file.version?.validator, let new, isSamePlace, old.isSame(as: new), !decodes {
            if let held = file.contentCoding, held != coding ?? "" {
                return "the answer is of the same version, in another content coding (\(coding ?? "none"))"
            }
            if let length, isPlain, length != file.length { return otherLength(length, file) }
        }
        if let coding, let held = file.contentCoding, !decodes, !ContentCoding.areEqual(coding, held),
            !ContentCoding.isRequested(coding, by: headers)
        {
            return "the answer has a content coding that was not requested (\(coding))"
        }
        if file.mustBeSame, let length, isPlain, !decodes, length != file.length { return otherLength(length, file) }
        return nil
    }

    /// Judges the length of a body that was known only at its end.
    static func refusal(ofBytes count: Int64, _ head: ResponseHead, for file: HeldFile) -> String? {
        count == 0 && file.length > 0 && Validator(head) == nil ? "an empty answer came instead of the file" : nil
    }

    /// Returns the error of a refused answer.
    static func error(_ reason: String) -> TransferError {
        TransferError(.badResponse, "\(reason); the file that is there stays", isTransient: true)
    }

    private static func isPage(_ head: ResponseHead, instead file: HeldFile, _ new: Validator?) -> Bool {
        guard MediaType.isPage(head.mediaType) else { return false }
        if let known = file.mediaType { return !MediaType.isPage(known) }
        return file.isBinary || new == nil && file.version != nil
    }

    private static func otherLength(_ length: Int64, _ file: HeldFile) -> String {
        "the server sent \(CountText.bytes(length)) as all of a file of \(file.length)"
    }

    private static func words(_ head: ResponseHead, _ length: Int64?) -> String {
        let facts = [head.mediaType, length.map { CountText.bytes($0) }].compactMap { $0 }.filter { !$0.isEmpty }
        return facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
    }
}

/// The media types that matter to a download.
enum MediaType {
    /// Returns whether the type is meant for people to read, and not for programs to store.
    static func isPage(_ mediaType: String?) -> Bool {
        mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }
}
