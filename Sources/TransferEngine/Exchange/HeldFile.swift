import TransferCore

/// The claims that are known of a file that is there whole: a later answer is judged by them before it takes the file's place.
///
/// `ResumePoint` has the same claims of a partial file. `ReplacementRule` and `ResumeRule` judge answers by them.
public struct HeldFile: Sendable, Hashable {
    /// The version that its server named, and the resource that named it; `nil` where the server named none.
    public var version: HeldVersion?
    /// Bytes.
    public var length: Int64
    /// The media type of the answer that brought it; `nil` where that isn't recorded.
    public var mediaType: String?
    /// The content coding that the file has; `nil` where that isn't recorded, empty for none.
    public var contentCoding: String?
    /// Whether the file's first bytes can't be those of a page.
    public var isBinary: Bool
    /// Whether only the same bytes may take its place: those of a file that is repaired.
    public var mustBeSame: Bool

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

/// The rule for an answer that is to take the place of a complete file: pure.
///
/// | Claim of the file | An answer that is refused |
/// |---|---|
/// | version | says of no version |
/// | version | is of the same version, and has another length or another content coding |
/// | media type, or first bytes | is a page of HTML, and the file is none |
/// | length | is empty and says of no version |
/// | sums (repair) | tells another length; its bytes are compared when all have come |
///
/// An answer of another version takes the file's place: its server says that the file changed.
enum ReplacementRule {
    /// - Parameters:
    ///   - isSamePlace: Whether the resource answers that named the file's version.
    ///   - decodes: Whether codings are taken off on the way to the file.
    /// - Returns: Why the answer is refused; `nil` for one that may take the file's place.
    static func refusal(
        of head: ResponseHead, for file: HeldFile, isSamePlace: Bool, decodes: Bool
    ) -> String? {
        let new = Validator(head)
        let length = head.value("Transfer-Encoding") == nil ? head.contentLength : nil
        if isPage(head, instead: file, new) { return "a page of HTML came instead of the file" }
        if length == 0, file.length > 0, new == nil { return "an empty answer came instead of the file" }
        if file.version != nil, new == nil {
            return "the answer\(words(head, length)) doesn't say of which version it is"
        }
        let coding = head.contentCoding?.lowercased()
        let isPlain = coding == nil && (file.contentCoding ?? "").isEmpty
        if let old = file.version?.validator, let new, isSamePlace, old.isSame(as: new), !decodes {
            if let held = file.contentCoding, held != coding ?? "" {
                return "the answer is of the same version, in another content coding (\(coding ?? "none"))"
            }
            if let length, isPlain, length != file.length { return otherLength(length, file) }
        }
        if file.mustBeSame, let length, isPlain, !decodes, length != file.length { return otherLength(length, file) }
        return nil
    }

    /// The same of a body whose length was known only at its end.
    static func refusal(ofBytes count: Int64, _ head: ResponseHead, for file: HeldFile) -> String? {
        count == 0 && file.length > 0 && Validator(head) == nil ? "an empty answer came instead of the file" : nil
    }

    /// The error of an answer that was refused.
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

/// Media types that are told apart by their meaning for a download.
enum MediaType {
    /// Whether a person is meant to read it, and not a program to store it.
    static func isPage(_ mediaType: String?) -> Bool {
        mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }
}
