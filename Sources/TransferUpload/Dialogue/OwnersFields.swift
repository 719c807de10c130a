/// A selection of the job's own header fields for one request of an upload.
public enum OwnersFields: Sendable, Hashable {
    /// All fields: the request makes the object to which they apply.
    case all
    /// The fields that concern neither the content nor a precondition: for a request with a part, or about the upload.
    ///
    /// A statement about the whole does not hold for a part (RFC 5789 §2). A question with `If-None-Match: *` would be
    /// answered by 304 exactly when its answer matters.
    case apartFromContent
    /// No field: a signature covers the fields, and all of them are set already.
    case none

    /// Returns whether a field is sent.
    ///
    /// - Parameter name: The name of a field, in any case.
    public func admits(_ name: String) -> Bool {
        switch self {
        case .all: true
        case .apartFromContent: !Self.isOfContent(name) && !Self.isCondition(name)
        case .none: false
        }
    }

    /// Returns whether a field describes a representation (RFC 9110 §8, RFC 9111 §5.3 and RFC 9530).
    public static func isOfContent(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-")
            || ["last-modified", "etag", "expires", "repr-digest", "digest"].contains(name)
    }

    /// Returns whether a field is a precondition (RFC 9110 §13.1).
    private static func isCondition(_ name: String) -> Bool { name.lowercased().hasPrefix("if-") }
}
