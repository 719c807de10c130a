import TransferCore

/// A key of `origins`: an origin (`https://cdn.example`), a bucket (`s3://archive`), or hosts of any scheme (`*.lan`).
public struct OriginPattern: Sendable, Hashable {
    /// The pattern as written in the file.
    public let text: String
    private let scheme: String?
    /// The host in ASCII and lower case; `*` matches any characters, dots included.
    private let host: [UInt8]
    /// The port; `nil` matches any.
    private let port: Int?

    /// Creates a pattern from its text.
    ///
    /// - Returns: `nil` for a text that is no valid pattern.
    public init?(_ text: String) {
        guard case .success(let pattern) = Self.read(text) else { return nil }
        self = pattern
    }

    private init(text: String, scheme: String?, host: String, port: Int?) {
        self.text = text
        self.scheme = scheme
        self.host = Array(host.utf8)
        self.port = port
    }

    /// Whether the pattern can match several hosts.
    package var hasWildcard: Bool { host.contains(UInt8(ascii: "*")) }

    /// Explains why a text is no pattern.
    ///
    /// - Returns: The reason in words; `nil` for a valid pattern.
    package static func refusal(of text: String) -> String? {
        guard case .failure(let refusal) = read(text) else { return nil }
        return refusal.message
    }

    private struct Refusal: Error { let message: String }

    private static func read(_ text: String) -> Result<OriginPattern, Refusal> {
        var rest = text[...]
        var scheme: String?
        if let colons = text.firstRange(of: "://") {
            let name = text[..<colons.lowerBound].lowercased()
            guard URLRule.transferSchemes.contains(name) else {
                let known = Wording.list(URLRule.transferSchemes)
                return .failure(
                    Refusal(message: "unsupported scheme \(Wording.quoted(name)); \(known) are supported"))
            }
            scheme = name
            rest = text[colons.upperBound...]
            if rest.hasSuffix("/") { rest = rest.dropLast() }
        }
        if rest.contains("@") {
            return .failure(Refusal(message: "an origin has no user; write \"auth\" beneath it"))
        }
        if rest.contains(where: { "/?#".contains($0) }) {
            return .failure(
                Refusal(message: "an origin has no path: write \"https://HOST\", \"*.DOMAIN\" or \"s3://BUCKET\""))
        }
        let (name, digits) = parts(rest)
        guard let host = ascii(name) else {
            return .failure(
                Refusal(message: "no origin; write \"https://HOST\", \"*.DOMAIN\" or \"s3://BUCKET\""))
        }
        guard let digits else {
            let standard = scheme.flatMap { Origin(anyURL: "\($0)://a")?.port }
            return .success(OriginPattern(text: text, scheme: scheme, host: host, port: standard))
        }
        guard let port = Int(digits), (1...65_535).contains(port) else {
            return .failure(Refusal(message: "the port is not a number from 1 to 65535"))
        }
        return .success(OriginPattern(text: text, scheme: scheme, host: host, port: port))
    }

    /// Returns the host without the brackets of an IPv6 address, and the text after its colon.
    private static func parts(_ authority: Substring) -> (host: Substring, port: Substring?) {
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            let rest = authority[authority.index(after: close)...]
            return (authority[..<close].dropFirst(), rest.hasPrefix(":") ? rest.dropFirst() : nil)
        }
        guard let colon = authority.lastIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    /// Returns the host in ASCII.
    ///
    /// - Returns: `nil` for a text that is no host name.
    private static func ascii(_ host: Substring) -> String? {
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"\"\\<>^`{|}".utf8.contains($0) })
        else {
            return nil
        }
        if host.contains(":") { return host.lowercased() }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false).map { label -> String? in
            if label.utf8.allSatisfy({ $0 < 0x80 }) { return label.lowercased() }
            return label.contains("*") ? nil : try? HostName.asciiForm(of: String(label))
        }
        guard !labels.contains(nil) else { return nil }
        return labels.compactMap(\.self).joined(separator: ".")
    }

    /// Returns whether the pattern matches a URL.
    public func matches(url: String) -> Bool { URLPlace(url).map(matches) ?? false }

    package func matches(_ place: URLPlace) -> Bool {
        if let scheme, scheme != place.scheme { return false }
        if let port, port != place.port { return false }
        return Self.matches(host[...], Array(place.host.utf8)[...])
    }

    private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (pattern, name) = (pattern, name)
        while let first = pattern.first {
            if first == UInt8(ascii: "*") {
                let rest = pattern.dropFirst()
                if rest.isEmpty { return !name.isEmpty }
                return name.indices.contains { matches(rest, name[$0...]) }
            }
            guard name.first == first else { return false }
            pattern = pattern.dropFirst()
            name = name.dropFirst()
        }
        return name.isEmpty
    }
}

/// The scheme, host and port of a URL; for an `s3://` URL, the bucket takes the place of the host.
package struct URLPlace: Sendable, Hashable {
    package let scheme: String
    package let host: String
    package let port: Int?

    /// Creates the place of a URL.
    ///
    /// - Returns: `nil` for a URL that no transfer can use.
    package init?(_ url: String) {
        if let origin = Origin(anyURL: url) {
            (scheme, host, port) = (origin.scheme, origin.host, origin.port)
            return
        }
        guard url.prefix(5).lowercased() == "s3://" else { return nil }
        (scheme, host, port) = ("s3", url.dropFirst(5).prefix { !"/?#".contains($0) }.lowercased(), nil)
    }
}
