import TransferCore
import TransferCrypto

/// The keys of SSH servers in files of known hosts, parsed as ssh does (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
///
/// Lines that ssh cannot parse are skipped, as ssh does.
struct KnownHosts: Sendable, Hashable {
    private var lines: [KnownHostsLine] = []

    /// Adds the lines of one file. All files count alike: a key that one of them revokes is not known.
    mutating func add(_ text: [UInt8]) {
        lines += text.split(separator: UInt8(ascii: "\n")).compactMap { KnownHostsLine($0) }
    }

    /// Returns the keys of one server.
    ///
    /// - Parameter host: The host in the form of ``Origin/host``.
    func keys(host: String, port: Int) -> ServerKeys {
        let name = port == ServerKeys.standardPort ? host : "[\(host)]:\(port)"
        return ServerKeys(
            host: host, port: port, named: lines.filter { $0.names(name) },
            // ssh uses the name alone where it has no key for the name with the port.
            withoutPort: port == ServerKeys.standardPort ? [] : lines.filter { $0.names(host) })
    }
}

/// The lines of files of known hosts that apply to one server.
struct ServerKeys: Sendable, Hashable {
    static let standardPort = 22

    enum Verdict: Sendable, Hashable {
        case known, unknown, revoked
        /// Another key of the same type is known.
        case changed
        /// Only keys of these types are known.
        case otherTypes([String])
        /// Keys of authorities are known, and no key of the server itself.
        case authorityOnly
    }

    let host: String
    let port: Int
    let named: [KnownHostsLine]
    let withoutPort: [KnownHostsLine]

    /// Judges a key.
    ///
    /// - Parameter key: The key in its wire format (RFC 4253 §6.6).
    func verdict(_ key: [UInt8]) -> Verdict {
        let first = Self.verdict(key, named)
        guard first == .unknown || first == .authorityOnly, !withoutPort.isEmpty else { return first }
        let second = Self.verdict(key, withoutPort)
        return second == .unknown ? first : second
    }

    private static func verdict(_ key: [UInt8], _ lines: [KnownHostsLine]) -> Verdict {
        if lines.contains(where: { $0.marker == .revoked && $0.key == key }) { return .revoked }
        let plain = lines.filter { $0.marker == nil }
        if plain.contains(where: { $0.key == key }) { return .known }
        guard !plain.isEmpty else { return lines.contains { $0.marker == .authority } ? .authorityOnly : .unknown }
        let type = KnownHostsLine.type(of: key)
        if plain.contains(where: { $0.type == type }) { return .changed }
        return .otherTypes(plain.map(\.type).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    }

    /// A line for libcurl, which asks a server for a key of the type in the line.
    ///
    /// - Returns: `nil` where no key is known.
    var line: String? {
        asked.map { "\(port == Self.standardPort ? host : "[\(host)]:\(port)") \($0.type) \(Base64.encode($0.key))\n" }
    }

    /// The known key whose type the server is asked for.
    var asked: KnownHostsLine? {
        func usable(_ lines: [KnownHostsLine]) -> [KnownHostsLine] {
            lines.filter { line in
                line.marker == nil && !lines.contains { $0.marker == .revoked && $0.key == line.key }
            }
        }
        let keys = usable(named).isEmpty ? usable(withoutPort) : usable(named)
        let order = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"]
        return order.lazy.compactMap { type in keys.first { $0.type == type } }.first
    }
}

/// A line of a file of known hosts.
struct KnownHostsLine: Sendable, Hashable {
    enum Marker: String, Sendable, Hashable {
        case authority = "@cert-authority"
        case revoked = "@revoked"
    }

    private enum Names: Sendable, Hashable {
        case patterns([HostPattern])
        /// The HMAC-SHA-1 of the name; its key is the salt.
        case hashed(salt: [UInt8], digest: [UInt8])
    }

    let marker: Marker?
    let type: String
    /// The key in its wire format.
    let key: [UInt8]
    private let names: Names

    /// Parses a line.
    ///
    /// - Returns: `nil` for a comment, for an empty line, and for a line that ssh skips.
    init?(_ line: ArraySlice<UInt8>) {
        var fields = line.prefix { $0 != 0 }.split { Self.isBlank($0) || $0 == UInt8(ascii: "\r") }[...]
        guard let first = fields.first, first.first != UInt8(ascii: "#") else { return nil }
        if first.first == UInt8(ascii: "@") {
            guard let marker = Marker(rawValue: String(decoding: first, as: UTF8.self)) else { return nil }
            self.marker = marker
            fields = fields.dropFirst()
        } else {
            marker = nil
        }
        guard fields.count >= 3 else { return nil }
        let (names, type, text) = (
            fields[fields.startIndex], fields[fields.startIndex + 1], fields[fields.startIndex + 2]
        )
        guard names.first != UInt8(ascii: "@"), let key = Base64.decode(String(decoding: text, as: UTF8.self)),
            let own = Self.type(of: key), own == String(decoding: type, as: UTF8.self)
        else { return nil }
        self.type = own
        self.key = key
        if names.first == UInt8(ascii: "|") {
            let parts = String(decoding: names, as: UTF8.self).split(
                separator: "|", omittingEmptySubsequences: false)
            guard parts.count == 4, parts[1] == "1", let salt = Base64.decode(parts[2]),
                let digest = Base64.decode(parts[3]), salt.count == Self.digestLength, digest.count == salt.count
            else { return nil }
            self.names = .hashed(salt: salt, digest: digest)
        } else {
            self.names = .patterns(names.split(separator: UInt8(ascii: ",")).map { HostPattern($0) })
        }
    }

    /// Returns whether the line names a server.
    ///
    /// - Parameter name: The name in lower case; with a port other than the standard one as `[host]:port`.
    func names(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        switch names {
        case .hashed(let salt, let digest):
            return (try? MessageAuthentication.sha1(bytes, key: salt)) == digest
        case .patterns(let patterns):
            let matching = patterns.filter { $0.matches(bytes) }
            return !matching.isEmpty && !matching.contains { $0.isNegated }
        }
    }

    /// The length of a SHA-1 digest, in bytes.
    private static let digestLength = 20

    /// Returns the type that a key itself names: its first string (RFC 4251 §5).
    static func type(of key: [UInt8]) -> String? {
        guard key.count > 4 else { return nil }
        let length = key[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard length > 0, length <= key.count - 4 else { return nil }
        return String(validating: key[4..<(4 + length)], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
