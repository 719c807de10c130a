/// Scheme, host and port: what answers as one server (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// Lower case.
    public let scheme: String
    /// Lower case, without brackets around an IPv6 address.
    public let host: String
    public let port: Int

    /// Reads the origin off an absolute URL.
    ///
    /// - Returns: `nil` for a URL without a host, with a port out of range, or with a scheme that is not http or https.
    @inlinable
    public init?(url: some StringProtocol) { self.init(text: Substring(url), ofFiles: false) }

    /// Reads the origin off an absolute URL of a file server.
    ///
    /// - Returns: `nil` also for a scheme that is not ftp, ftps or sftp.
    public init?(fileServerURL url: some StringProtocol) { self.init(text: Substring(url), ofFiles: true) }

    /// Reads the origin off an absolute URL of either kind.
    ///
    /// - Returns: `nil` for a scheme that is neither of HTTP nor of a file server, too.
    public init?(anyURL url: some StringProtocol) {
        guard let origin = Origin(url: url) ?? Origin(fileServerURL: url) else { return nil }
        self = origin
    }

    /// Not generic, so that each hop of another module's request doesn't pay for that.
    @usableFromInline
    init?(text url: Substring, ofFiles isFileServer: Bool) {
        // By bytes: this is done for every job and hop, and characters would cost ten times as much.
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].prefix(3).elementsEqual("://".utf8)
        else { return nil }
        let scheme: String
        switch url[..<colon] {
        case "https" where !isFileServer: scheme = "https"
        case "http" where !isFileServer: scheme = "http"
        default:
            scheme = url[..<colon].lowercased()
            guard isFileServer ? Self.filePort(scheme) != nil : scheme == "http" || scheme == "https" else {
                return nil
            }
        }
        var start = bytes.index(colon, offsetBy: 3)
        let end =
            bytes[start...].firstIndex {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
            } ?? bytes.endIndex
        if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) { start = bytes.index(after: at) }
        var port = Self.defaultPort(scheme)
        let host: Substring
        var rest: Substring.UTF8View.SubSequence
        if start < end, bytes[start] == UInt8(ascii: "["),
            let close = bytes[start..<end].firstIndex(of: UInt8(ascii: "]"))
        {
            host = url[bytes.index(after: start)..<close]
            rest = bytes[bytes.index(after: close)..<end]
        } else {
            let hostEnd = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")) ?? end
            host = url[start..<hostEnd]
            rest = bytes[hostEnd..<end]
        }
        if rest.first == UInt8(ascii: ":"), rest.count > 1 {
            rest = rest.dropFirst()
            guard rest.count <= 5, rest.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let number = rest.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard (1...65_535).contains(number) else { return nil }
            port = number
        } else if !rest.isEmpty, rest.first != UInt8(ascii: ":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        self.scheme = scheme
        let isLower = host.utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
        self.host = isLower ? String(host) : host.lowercased()
        self.port = port
    }

    public var isDefaultPort: Bool { port == Self.defaultPort(scheme) }

    private static func defaultPort(_ scheme: String) -> Int {
        scheme == "https" ? 443 : scheme == "http" ? 80 : filePort(scheme) ?? 0
    }

    /// Of the IANA's registry; 990 is that of TLS from the first byte on.
    private static func filePort(_ scheme: String) -> Int? {
        switch scheme {
        case "ftp": 21
        case "ftps": 990
        case "sftp": 22
        default: nil
        }
    }

    /// The host, with the port when it isn't the scheme's own: as people name a server.
    public var hostAndPort: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return isDefaultPort ? name : "\(name):\(port)"
    }

    public var description: String { "\(scheme)://\(hostAndPort)" }
}
