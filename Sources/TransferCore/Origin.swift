/// The scheme, host and port that identify a server (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case.
    public let scheme: String
    /// The host in ASCII and lower case (``HostName``), without brackets around an IPv6 address.
    public let host: String
    /// The port, or the scheme's default where the URL names none.
    public let port: Int

    /// Creates the origin of an absolute HTTP URL.
    ///
    /// - Returns: `nil` for a URL without a host, with a port out of range, or with a scheme that is not http or https.
    @inlinable
    public init?(url: some StringProtocol) { self.init(text: Substring(url), ofFiles: false) }

    /// Creates the origin of an absolute URL of a file server.
    ///
    /// - Returns: `nil` for the reasons above, and for a scheme that is not ftp, ftps or sftp.
    public init?(fileServerURL url: some StringProtocol) { self.init(text: Substring(url), ofFiles: true) }

    /// Creates the origin of an absolute URL of either kind.
    ///
    /// - Returns: `nil` for the reasons above, and for a scheme that belongs neither to HTTP nor to a file server.
    public init?(anyURL url: some StringProtocol) {
        guard let origin = Origin(url: url) ?? Origin(fileServerURL: url) else { return nil }
        self = origin
    }

    /// Creates an origin without generics, which would cost each hop of a request in another module.
    @usableFromInline
    init?(text url: Substring, ofFiles isFileServer: Bool) {
        // Bytes are used since this runs for every job and hop, and characters would take ten times as long.
        let read = url.utf8.withContiguousStorageIfAvailable { Self.read($0, isFileServer) }
        guard let origin = read ?? Array(url.utf8).withUnsafeBufferPointer({ Self.read($0, isFileServer) }) else {
            return nil
        }
        self = origin
    }

    private init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>, _ isFileServer: Bool) -> Origin? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let scheme = scheme(bytes[..<colon], isFileServer), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let start = colon + 3
        let end =
            bytes[start...].firstIndex {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
            } ?? bytes.endIndex
        var authority = bytes[start..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = bytes[(at + 1)..<end] }
        let host: Bytes
        let rest: Bytes
        if authority.first == UInt8(ascii: "["), let close = authority.firstIndex(of: UInt8(ascii: "]")) {
            host = bytes[(authority.startIndex + 1)..<close]
            rest = bytes[(close + 1)..<end]
        } else {
            let hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? end
            host = authority[..<hostEnd]
            rest = authority[hostEnd...]
        }
        guard let port = port(rest, of: scheme), !host.isEmpty, host.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return nil
        }
        guard let name = name(host, inBrackets: rest.startIndex > host.endIndex) else { return nil }
        return Origin(scheme: scheme, host: name, port: port)
    }

    /// Returns the host's form in ASCII.
    ///
    /// - Returns: `nil` for a name without one.
    private static func name(_ host: Bytes, inBrackets: Bool) -> String? {
        let text = String(decoding: host, as: UTF8.self)
        if host.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) && $0 != UInt8(ascii: "%") }) { return text }
        // A zone follows a percent sign (RFC 6874).
        return inBrackets ? text.lowercased() : try? HostName.asciiForm(of: text)
    }

    /// Returns the scheme in lower case.
    ///
    /// - Returns: `nil` for a scheme of another kind.
    private static func scheme(_ bytes: Bytes, _ isFileServer: Bool) -> String? {
        if !isFileServer {
            if bytes.elementsEqual("https".utf8) { return "https" }
            if bytes.elementsEqual("http".utf8) { return "http" }
        }
        let scheme = String(decoding: bytes, as: UTF8.self).lowercased()
        return (isFileServer ? filePort(scheme) != nil : scheme == "http" || scheme == "https") ? scheme : nil
    }

    /// Returns the port.
    ///
    /// - Parameter bytes: The text after the host.
    private static func port(_ bytes: Bytes, of scheme: String) -> Int? {
        guard let colon = bytes.first else { return defaultPort(scheme) }
        guard colon == UInt8(ascii: ":") else { return nil }
        let digits = bytes.dropFirst()
        if digits.isEmpty { return defaultPort(scheme) }
        guard digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return (1...65_535).contains(number) ? number : nil
    }

    /// Whether the port is the scheme's default.
    public var isDefaultPort: Bool { port == Self.defaultPort(scheme) }

    private static func defaultPort(_ scheme: String) -> Int {
        scheme == "https" ? 443 : scheme == "http" ? 80 : filePort(scheme) ?? 0
    }

    /// Returns the default port in IANA's registry; 990 is for TLS from the first byte on.
    private static func filePort(_ scheme: String) -> Int? {
        switch scheme {
        case "ftp": 21
        case "ftps": 990
        case "sftp": 22
        default: nil
        }
    }

    /// The host, followed by the port where that is not the scheme's default, as a name for people.
    public var hostAndPort: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return isDefaultPort ? name : "\(name):\(port)"
    }

    /// The origin as `scheme://host`, with the port where it is not the default.
    public var description: String { "\(scheme)://\(hostAndPort)" }
}
