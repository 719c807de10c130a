/// What a header field may be (RFC 9110 §5): anything else could smuggle a second field or request in.
public enum HeaderRule {
    /// - Returns: What is wrong with the name; `nil` for one that a job may have.
    public static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name of a header is empty" }
        guard isToken(name) else { return "not the name of a header; letters, digits and !#$%&'*+-.^_`|~ are possible" }
        if framing.contains(name.lowercased()) {
            return "\(name) says where a body ends, which the transfer tells by itself; leave it out"
        }
        return nil
    }

    /// RFC 9112 §6: what differs from the body has servers take its rest for another request.
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "te", "trailer", "connection"]

    package static func refusal(ofValue value: String) -> String? {
        let isClean = value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
        return isClean ? nil : "a header's value can't hold line breaks or other control characters"
    }

    public static func refusal(ofMethod method: String) -> String? {
        isToken(method) ? nil : "not a method, such as \"GET\""
    }

    /// RFC 9110 §9.3: what these are answered with says nothing of a body that was stored.
    package static func refusal(ofUploadMethod method: String) -> String? {
        guard ["GET", "HEAD", "DELETE", "CONNECT", "OPTIONS", "TRACE"].contains(method.uppercased()) else {
            return refusal(ofMethod: method)
        }
        return "\(method) stores nothing; an upload's method is \"PUT\", \"POST\" or \"PATCH\", say"
    }

    /// RFC 7617 §2: a colon ends the user.
    package static func refusal(ofUser user: String) -> String? {
        if user.utf8.contains(UInt8(ascii: ":")) { return "a user's name can't hold a colon" }
        return refusal(ofValue: user) == nil ? nil : "a user's name can't hold control characters"
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
