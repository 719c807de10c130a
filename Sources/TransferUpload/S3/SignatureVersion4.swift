public import TransferCore
import TransferCrypto

/// AWS Signature Version 4 in the `Authorization` field.
///
/// See "Authenticating Requests: Using the Authorization Header" of the S3 API reference. S3's own rules apply: the
/// path is encoded once and never normalised.
public struct SignatureVersion4: Sendable, Hashable {
    /// The region of the signature.
    public var region: String
    /// The name of the service.
    public var service: String

    /// Creates a signer.
    public init(region: String, service: String = "s3") {
        self.region = region
        self.service = service
    }

    /// The description of the body in the signature.
    public enum Payload: Sendable, Hashable {
        /// The body is not described: only TLS protects it.
        case unsigned
        /// The SHA-256 digest of the body, which the server compares with the received bytes.
        case digest(Checksum)
        case bytes([UInt8])

        /// An empty body.
        public static let empty = Self.bytes([])
    }

    /// Returns the fields to add to a request.
    ///
    /// The fields are `x-amz-date`, `x-amz-content-sha256` (for S3), `x-amz-security-token` in a session, and
    /// `Authorization`.
    ///
    /// - Parameters:
    ///   - url: The absolute URL; its host is signed as the Host field, without the scheme's default port.
    ///   - headers: The further fields to sign. Fields that are added later, or changed by proxies, must not be among
    ///     them.
    ///   - now: The time in seconds since 1970; servers refuse signatures that are more than 15 minutes off.
    /// - Throws: `TransferError` of `.badURL` for a URL that is not http or https, `.invalidRequest` for credentials or
    ///   values that no header can carry.
    public func fields(
        method: String, url: String, headers: [HeaderField] = [], payload: Payload, credentials: S3Credentials,
        now: Int64
    ) throws(TransferError) -> [HeaderField] {
        let time = Self.timestamp(now)
        let digest = try Self.digest(payload)
        var added = [HeaderField("x-amz-date", time)]
        if service == "s3" { added.append(HeaderField("x-amz-content-sha256", digest)) }
        if let token = credentials.sessionToken { added.append(HeaderField("x-amz-security-token", token)) }
        for value in (headers + added).map(\.value) + [credentials.accessKey] {
            guard !value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else {
                throw TransferError(.invalidRequest, "a signed header or an S3 credential has a control character")
            }
        }
        let (canonical, names) = try Self.canonicalRequest(
            method: method, url: url, headers: headers + added, digest: digest)
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(try Digest.of(Array(canonical.utf8)).hex)"
        var key = Array("AWS4\(credentials.secret)".utf8)
        for part in [String(time.prefix(8)), region, service, "aws4_request", text] {
            key = try MessageAuthentication.sha256(Array(part.utf8), key: key)
        }
        let credential = "\(credentials.accessKey)/\(scope)"
        added.append(
            HeaderField(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credential),SignedHeaders=\(names),"
                    + "Signature=\(Hexadecimal.encode(key))"))
        return added
    }

    /// Returns the ID of the key that signed a request with these fields; `nil` for a request without a signature.
    package static func accessKey(in fields: [HeaderField]) -> String? {
        let start = "AWS4-HMAC-SHA256 Credential="
        guard let field = fields.value("Authorization"), field.hasPrefix(start) else { return nil }
        return String(field.dropFirst(start.count).prefix { $0 != "/" })
    }

    /// Makes the canonical request.
    ///
    /// - Returns: The text of the request that is signed, and the names of its fields.
    static func canonicalRequest(
        method: String, url: String, headers: [HeaderField], digest: String
    ) throws(TransferError) -> (text: String, signedHeaders: String) {
        guard let origin = Origin(url: url) else {
            throw TransferError(.badURL, "\(Redaction.url(url)) cannot be signed: it is no http or https URL")
        }
        let (path, query) = pathAndQuery(url)
        var values: [String: [String]] = ["host": [origin.hostAndPort]]
        for field in headers { values[field.name.lowercased(), default: []].append(canonicalValue(field.value)) }
        let names = values.keys.sorted()
        let lines = names.map { "\($0):\(values[$0, default: []].joined(separator: ","))\n" }.joined()
        let signed = names.joined(separator: ";")
        return (
            "\(method)\n\(canonicalPath(path))\n\(canonicalQuery(query))\n\(lines)\n\(signed)\n\(digest)", signed
        )
    }

    /// Encodes every segment anew. Dots and double slashes stay, as they are part of S3's keys.
    static func canonicalPath(_ path: some StringProtocol) -> String {
        guard !path.isEmpty else { return "/" }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { encoded($0) }.joined(separator: "/")
    }

    /// Encodes names and values anew and sorts them; a name without a value has an empty one.
    static func canonicalQuery(_ query: some StringProtocol) -> String {
        query.split(separator: "&").map { pair -> (String, String) in
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            return (encoded(pair[..<equals]), encoded(pair[equals...].dropFirst()))
        }
        .sorted { $0 < $1 }
        .map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// Removes surrounding white space, and replaces runs of it by one space.
    static func canonicalValue(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }

    /// Returns a time in the form `20130524T000000Z`.
    static func timestamp(_ now: Int64) -> String {
        let days = (now >= 0 ? now : now - 86_399) / 86_400
        let (year, month, day) = CivilDate.date(ofDay: days)
        let rest = Int(now - days * 86_400)
        func padded(_ value: Int, _ width: Int = 2) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return padded(year, 4) + padded(month) + padded(day) + "T" + padded(rest / 3600) + padded(rest / 60 % 60)
            + padded(rest % 60) + "Z"
    }

    private static func digest(_ payload: Payload) throws(TransferError) -> String {
        switch payload {
        case .unsigned: return "UNSIGNED-PAYLOAD"
        case .digest(let checksum): return checksum.hex
        case .bytes(let bytes): return try Digest.of(bytes).hex
        }
    }

    private static func pathAndQuery(_ url: String) -> (Substring, Substring) {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return ("", "") }
        let start = bytes.index(colon, offsetBy: 3, limitedBy: bytes.endIndex) ?? bytes.endIndex
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let authorityEnd =
            bytes[start..<end].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
        let question = bytes[authorityEnd..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        return (url[authorityEnd..<question], url[question..<end].dropFirst())
    }

    /// Encodes a text by bytes, not characters: bytes that are not UTF-8 stay unchanged.
    private static func encoded(_ text: some StringProtocol) -> String {
        PercentEncoding.encode(bytes: PercentEncoding.decode(text))
    }
}
