/// A choice of the fields, among those that the owner of an upload wants, for one of its requests.
public enum OwnersFields: Sendable, Hashable {
    /// All: the request makes what the owner speaks of.
    case all
    /// Fields that are about neither the content nor what there is before it: for a request for part of the content, or
    /// for what is on the server. What holds for the whole isn't true of a part (RFC 5789 §2), and a question that
    /// comes with `If-None-Match: *` is answered by 304 just when the answer matters.
    case apartFromContent
    /// None: a signature covers the fields, which all are there.
    case none

    /// - Parameter name: A field's name, in any case.
    public func admits(_ name: String) -> Bool {
        switch self {
        case .all: true
        case .apartFromContent: !Self.isOfContent(name) && !Self.isCondition(name)
        case .none: false
        }
    }

    /// RFC 9110 §8, RFC 9111 §5.3 and RFC 9530: what is said of a representation.
    public static func isOfContent(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-")
            || ["last-modified", "etag", "expires", "repr-digest", "digest"].contains(name)
    }

    /// RFC 9110 §13.1.
    private static func isCondition(_ name: String) -> Bool { name.lowercased().hasPrefix("if-") }
}
