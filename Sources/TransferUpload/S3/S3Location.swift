public import TransferCore

/// An object in a bucket, and the way to address its server.
public struct S3Location: Sendable, Hashable, CustomStringConvertible {
    /// The place in which requests name the bucket.
    public enum Style: String, Sendable, Hashable {
        /// The path: `https://host/bucket/key`.
        case path
        /// The host: `https://bucket.host/key`.
        case virtualHost = "virtual-host"
    }

    /// The name of the bucket.
    public let bucket: String
    /// The key of the object, not encoded.
    public let key: String
    /// The region of the signatures and, without an endpoint, the region of AWS to connect to.
    public private(set) var region: String
    /// The server; `nil` is AWS, in the region.
    public let endpoint: Origin?
    /// The path above buckets, encoded for signatures, on a server that has other resources too.
    ///
    /// The path begins with a slash and ends without one; it is empty where buckets are at the root.
    public let endpointPath: String
    private let chosenStyle: Style?

    /// Parses the URL of an object.
    ///
    /// - Parameters:
    ///   - url: The URL `s3://bucket/key`. Percent codes in the key are decoded; `?` and `#` must be encoded.
    ///   - endpoint: The URL `https://host[:port][/path]` or `http://…`; `nil` is AWS. Buckets are below the path,
    ///     which is signed as a part of each URL.
    ///   - region: The region of the bucket. A wrong one is corrected by the server's answer.
    ///   - style: The place of the bucket's name. `nil` chooses `.virtualHost` at AWS for buckets whose names fit a
    ///     host name and its certificate (no dots, no capitals), otherwise `.path`.
    /// - Throws: `TransferError` of `.badURL` or `.invalidRequest` with a description of the fault.
    public init(
        _ url: String, endpoint: String? = nil, region: String = "us-east-1", style: Style? = nil
    ) throws(TransferError) {
        func fault(_ text: String) -> TransferError { TransferError(.badURL, "\(Redaction.url(url)): \(text)") }
        guard url.prefix(5).lowercased() == "s3://" else { throw fault("an S3 URL is s3://bucket/key") }
        guard !url.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw fault("? and # in a key are written %3F and %23")
        }
        let rest = url.dropFirst(5)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let bucket = String(rest[..<slash])
        guard Self.isBucket(bucket) else { throw fault("\(bucket.debugDescription) is no bucket's name") }
        let bytes = PercentEncoding.decode(rest[slash...].dropFirst())
        guard !bytes.isEmpty else { throw fault("the key is missing, as in s3://\(bucket)/key") }
        guard bytes.count <= 1024 else { throw fault("a key has at most 1024 bytes, this one \(bytes.count)") }
        guard let key = String(validating: bytes, as: UTF8.self) else { throw fault("the key is no UTF-8") }
        guard !key.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw fault("a key with . or .. between slashes cannot be asked for by HTTP, which takes them out")
        }
        self.bucket = bucket
        self.key = key
        guard Self.isRegion(region) else {
            throw TransferError(.invalidRequest, "\(region.debugDescription) is no region's name")
        }
        self.region = region
        if let endpoint {
            if let refusal = Self.refusal(ofEndpoint: endpoint) { throw TransferError(.invalidRequest, refusal) }
            self.endpoint = Origin(url: endpoint)
            endpointPath = Self.path(ofEndpoint: endpoint)
        } else {
            self.endpoint = nil
            endpointPath = ""
        }
        chosenStyle = style
        guard style != .virtualHost || Self.isLabel(bucket, allowingDots: true) else {
            throw fault("\(bucket) cannot be part of a host name: use path style")
        }
    }

    /// The place in which requests name the bucket.
    public var style: Style {
        if let chosenStyle { return chosenStyle }
        let host = server.host
        let isAWS = host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
        return isAWS && Self.isLabel(bucket, allowingDots: false) ? .virtualHost : .path
    }

    /// The URL of the object, with the key encoded for signatures.
    public var url: String {
        let path = key.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode($0) }.joined(separator: "/")
        let server = server
        switch style {
        case .path: return "\(server.scheme)://\(server.hostAndPort)\(endpointPath)/\(bucket)/\(path)"
        case .virtualHost: return "\(server.scheme)://\(bucket).\(server.hostAndPort)\(endpointPath)/\(path)"
        }
    }

    /// The URL of the bucket, for requests about its content.
    var bucketURL: String {
        let server = server
        switch style {
        case .path: return "\(server.scheme)://\(server.hostAndPort)\(endpointPath)/\(bucket)"
        case .virtualHost: return "\(server.scheme)://\(bucket).\(server.hostAndPort)\(endpointPath)/"
        }
    }

    /// The URL `s3://bucket/key`, encoded so that it can be parsed again.
    public var description: String {
        let path = key.split(separator: "/", omittingEmptySubsequences: false)
        return "s3://\(bucket)/\(path.map { PercentEncoding.encode($0) }.joined(separator: "/"))"
    }

    /// Returns the same object in the region that its server has reported.
    ///
    /// - Returns: `nil` for a text that is no region's name.
    public func inRegion(_ region: String) -> S3Location? {
        guard Self.isRegion(region) else { return nil }
        var other = self
        other.region = region
        return other
    }

    /// Returns the object in the region that an answer names: by `x-amz-bucket-region`, or `<Region>` of the error.
    ///
    /// - Returns: `nil` when the answer names no region, or this one.
    public func otherRegion(_ head: ResponseHead, body: [UInt8] = []) -> S3Location? {
        guard [301, 307, 400, 403].contains(head.status) else { return nil }
        let named = head.value("x-amz-bucket-region") ?? S3Fault(body)?.region
        guard let named, named != region else { return nil }
        return inRegion(named)
    }

    /// Returns the error of an answer that is not the object, with the server's message where it has one.
    ///
    /// - Parameter now: The time in seconds since 1970.
    public func refusal(_ head: ResponseHead, body: [UInt8], now: Int64) -> TransferError {
        S3Fault.error(UploadAnswer(request: 0, head: head, body: body, url: url), now: now)
    }

    /// Returns the same error with the ID of the key that signed the request, where its credentials have expired.
    package func refusal(
        _ head: ResponseHead, body: [UInt8], signedBy accessKey: String?, now: Int64
    ) -> TransferError {
        var error = refusal(head, body: body, now: now)
        if error.hasExpiredCredentials { error.expiredAccessKey = accessKey }
        return error
    }

    /// Returns the fields that sign a request for the object, such as a download.
    ///
    /// Only the host and `x-amz-…` are signed, so that Range, If-Range and others may be added.
    ///
    /// - Parameter now: The time in seconds since 1970. A signature holds for 15 minutes: every request needs its own.
    /// - Throws: `TransferError` for credentials that no header can carry.
    public func fields(
        method: String = "GET", credentials: S3Credentials, now: Int64
    ) throws(TransferError) -> [HeaderField] {
        try SignatureVersion4(region: region)
            .fields(method: method, url: url, payload: .empty, credentials: credentials, now: now)
    }

    private var server: (scheme: String, host: String, hostAndPort: String) {
        if let endpoint { return (endpoint.scheme, endpoint.host, endpoint.hostAndPort) }
        let host = "s3.\(region).\(region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com")"
        return ("https", host, host)
    }

    /// Returns whether a name can be a bucket's. The rule is wider than AWS's: other servers allow capitals and
    /// underscores.
    private static func isBucket(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { isLetterOrDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) }
    }

    private static func isLabel(_ name: String, allowingDots: Bool) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { isLetterOrDigit($0) && $0.asciiLowercased == $0 || $0 == 0x2D }
        } && (allowingDots || !name.contains("."))
    }

    /// Returns whether a name can be a region's. It becomes part of a host name and of the signature, so servers must
    /// not choose freely.
    private static func isRegion(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte.asciiLowercased)
    }
}
