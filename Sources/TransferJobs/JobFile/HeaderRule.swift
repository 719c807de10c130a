/// The rules for header fields (RFC 9110 §5); any other text could smuggle in a second field or request.
public enum HeaderRule {
    /// Explains why a text is no valid field name.
    ///
    /// - Returns: The reason in words; `nil` for a name that a job may have.
    public static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name of a header is empty" }
        guard isToken(name) else { return "not the name of a header; letters, digits and !#$%&'*+-.^_`|~ are possible" }
        if framing.contains(name.lowercased()) {
            return "\(name) says where a body ends, and the transfer sets it automatically; leave it out"
        }
        return nil
    }

    /// Fields that frame the body (RFC 9112 §6). A value that contradicts the body would make servers read its rest as
    /// another request.
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "te", "trailer", "connection"]

    package static func refusal(ofValue value: String) -> String? {
        let isClean = value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
        return isClean ? nil : "a header's value cannot hold line breaks or other control characters"
    }

    /// Explains why a text is no valid request method.
    ///
    /// - Returns: The reason in words; `nil` for a valid method.
    public static func refusal(ofMethod method: String) -> String? {
        isToken(method) ? nil : "not a method, such as \"GET\""
    }

    /// Explains why a method cannot upload: responses to some methods never confirm that a body was stored (RFC 9110
    /// §9.3).
    package static func refusal(ofUploadMethod method: String) -> String? {
        guard ["GET", "HEAD", "DELETE", "CONNECT", "OPTIONS", "TRACE"].contains(method.uppercased()) else {
            return refusal(ofMethod: method)
        }
        return "\(method) stores nothing; an upload's method is \"PUT\", \"POST\" or \"PATCH\", say"
    }

    /// Explains why a text is no valid user name; a colon would end it (RFC 7617 §2).
    package static func refusal(ofUser user: String) -> String? {
        if user.utf8.contains(UInt8(ascii: ":")) { return "a user's name cannot hold a colon" }
        return refusal(ofValue: user) == nil ? nil : "a user's name cannot hold control characters"
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
