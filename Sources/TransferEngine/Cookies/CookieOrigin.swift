import TransferCore

/// The parts of a URL that matter for cookies.
package struct CookieOrigin: Equatable {
    /// The host in lower case, as punycode, without brackets.
    package let host: String
    package let path: String
    package let isSecure: Bool
    package let isAddress: Bool

    /// Parses a URL.
    ///
    /// - Returns: `nil` for a URL that has no cookies.
    package init?(_ url: String) {
        guard let origin = Origin(url: url) else { return nil }
        host = origin.host
        isSecure = origin.scheme == "https"
        isAddress = IPAddress(host) != nil
        path = Self.path(url)
    }

    /// The path of a cookie that names none: the URL's path up to the last slash, without that slash (RFC 6265 §5.1.4).
    package var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether the host matches a cookie's domain (RFC 6265 §5.1.3).
    package func matches(domain: String) -> Bool {
        if host == domain { return true }
        guard !isAddress, !domain.isEmpty, host.utf8.count > domain.utf8.count, host.hasSuffix(domain) else {
            return false
        }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// The host and the domains above it, the host first.
    package var domains: [Substring] {
        if isAddress { return [host[...]] }
        var result = [host[...]]
        while let last = result.last, let dot = last.utf8.firstIndex(of: UInt8(ascii: ".")) {
            result.append(last[last.utf8.index(after: dot)...])
        }
        return result
    }

    /// Returns whether the hosts belong to one owner, to the extent that the Public Suffix List knows.
    package func isSameSite(as other: CookieOrigin) -> Bool {
        if host == other.host { return true }
        guard !isAddress, !other.isAddress, let own = PublicSuffix.registrable(host) else { return false }
        return own == PublicSuffix.registrable(other.host)
    }

    private static func path(_ url: String) -> String {
        let bytes = url.utf8
        var slashes = 0
        let start = bytes.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || slashes == 2 && (byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#"))
        }
        guard let start, bytes[start] == UInt8(ascii: "/") else { return "/" }
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(url[start..<(end ?? bytes.endIndex)])
    }
}

extension String {
    /// Returns whether a request for this path gets a cookie of that path (RFC 6265 §5.1.4).
    func pathMatches(_ cookiePath: String) -> Bool {
        guard utf8.starts(with: cookiePath.utf8) else { return false }
        let count = cookiePath.utf8.count
        return utf8.count == count || cookiePath.hasSuffix("/") || utf8.dropFirst(count).first == UInt8(ascii: "/")
    }
}
