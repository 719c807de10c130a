import TransferCore

extension S3Location {
    /// Returns the reason why a text cannot be the endpoint of an object server.
    ///
    /// - Returns: `nil` for a valid endpoint: `https://host[:port][/path]`, or the same with http.
    public static func refusal(ofEndpoint text: String) -> String? {
        guard Origin(url: text) != nil else {
            return "\(Redaction.url(text)) is no endpoint: write https://host, with :port and /path if it has them"
        }
        let start = text.utf8.index(text.startIndex, offsetBy: text.lengthThroughAuthority)
        guard !text[..<start].contains("@") else { return "an endpoint cannot carry a user or a password" }
        guard !text[start...].contains(where: { $0 == "?" || $0 == "#" }) else {
            return "the endpoint \(Redaction.url(text)) has more than a host, a port and a path"
        }
        guard !text[start...].utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            return "the endpoint's path holds a space or a control character; write %20"
        }
        let segments = text[start...].split(separator: "/").map { PercentEncoding.decode($0) }
        guard !segments.contains(where: { $0 == [0x2E] || $0 == [0x2E, 0x2E] }) else {
            return "the endpoint \(Redaction.url(text)) has . or .. between slashes, which HTTP takes out"
        }
        return nil
    }

    /// Returns the path of an endpoint. It is encoded anew, so that the signed and the sent bytes are the same.
    static func path(ofEndpoint text: String) -> String {
        let start = text.utf8.index(text.startIndex, offsetBy: text.lengthThroughAuthority)
        var path = text[start...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(bytes: PercentEncoding.decode($0)) }.joined(separator: "/")
    }
}
