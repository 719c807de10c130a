import TransferCore

/// The rules for URLs in job files, on command lines and in programs. Blanks and non-ASCII letters are accepted as
/// people write them, and sent in escaped form (``URLSpelling``).
package enum URLRule {
    package struct Refusal {
        package var message: String
        /// Whether the URL contains a secret.
        package var isSecret = false
    }

    package static var transferSchemes: [String] { UploadRegistry.current.urlSchemes }
    package static let proxySchemes = ["http", "https", "socks5", "socks5h"]

    /// Explains why a URL is invalid.
    ///
    /// - Returns: `nil` for a URL that can be used.
    package static func refusal(
        of url: String, schemes: [String] = transferSchemes, advice: String = authAdvice
    ) -> Refusal? {
        if FTPTypeCode.split(url)?.type == .listing {
            return Refusal(message: "\";type=d\" asks for the names in a folder, and only files are moved; name a file")
        }
        return url.utf8.withContiguousStorageIfAvailable { check($0, schemes, advice) }
            ?? check(Array(url.utf8), schemes, advice)
    }

    /// Explains why a URL cannot be the destination of a request. It applies ``refusal(of:schemes:advice:)`` and the
    /// rules for destinations.
    ///
    /// - Returns: `nil` for a URL that can be used.
    package static func refusal(ofDestination url: String) -> Refusal? {
        refusal(of: url) ?? requestRefusal(ofDestination: url).map { Refusal(message: $0) }
    }

    /// Explains why a destination cannot have a fragment. A fragment is not sent (RFC 3986 §3.5), so it cannot
    /// distinguish two files at the server.
    package static func requestRefusal(ofDestination url: String) -> String? {
        guard url.utf8.contains(UInt8(ascii: "#")) else { return nil }
        return "# and what follows it is not sent to a server; write %23 where it belongs to a name"
    }

    /// Explains why a URL cannot have a file's name appended.
    package static func requestRefusal(ofFolder url: String) -> String? {
        if let refusal = requestRefusal(ofDestination: url) { return refusal }
        guard url.utf8.contains(UInt8(ascii: "?")), url.prefix(4).lowercased() == "http" else { return nil }
        return "? begins a query, which is no place for a file's name; write %3F where it belongs to a name"
    }

    /// Returns whether a URL can be the source or destination of a transfer.
    package static func isSupported(_ url: String) -> Bool {
        guard let refusal = refusal(of: url) else { return true }
        // A program may put a user into the URL.
        return refusal.isSecret && Origin(anyURL: url) != nil
    }

    /// Returns the reason, in words, why a URL cannot be the source or destination of a transfer.
    package static func reason(against url: String) -> String {
        let reason = refusal(of: url)?.message ?? "\(Wording.list(transferSchemes)) are supported"
        return "unsupported URL \(Wording.printable(Redaction.url(url))): \(reason)"
    }

    package static let authAdvice =
        "write \"auth\": {\"user\": \"NAME\", \"password\": {\"env\": \"NAME\"}} or {\"netrc\": true}"

    package static let sshAdvice = "write \"ssh\": {\"user\": \"NAME\"}, with a password " + authAdvice.dropFirst(6)

    private static func check<Bytes: RandomAccessCollection<UInt8>>(
        _ url: Bytes, _ schemes: [String], _ advice: String
    ) -> Refusal? where Bytes.Index == Int {
        if url.isEmpty { return Refusal(message: "the URL is empty") }
        for byte in url where byte < 0x20 || byte == 0x7F {
            return Refusal(message: "a URL cannot hold control characters")
        }
        // A space inside the URL, unlike one at its end, is clearly part of a name.
        if url.last == 0x20 {
            return Refusal(message: "the URL ends with a space; write %20 where it belongs to a name")
        }
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > 0, url[..<colon].allSatisfy(isSchemeByte)
        else {
            return Refusal(message: "not a URL; it begins with \(schemes[0])://")
        }
        guard schemes.contains(where: { $0.utf8.elementsEqual(url[..<colon].lazy.map(\.asciiLowercased)) }) else {
            let scheme = String(decoding: url[..<colon], as: UTF8.self)
            return Refusal(
                message: "unsupported scheme \(Wording.quoted(scheme)); \(Wording.list(schemes)) are supported")
        }
        var start = colon + 1
        while start < url.count, start < colon + 3, url[start] == UInt8(ascii: "/") { start += 1 }
        guard start == colon + 3 else { return Refusal(message: "a URL has two slashes behind the colon") }
        let end = url[start...].firstIndex { isAuthorityEnd($0) } ?? url.count
        if url[start..<end].contains(UInt8(ascii: "@")) {
            // A login by SSH key has no password to name.
            let isSSH = url[..<colon].lazy.map(\.asciiLowercased).elementsEqual("sftp".utf8) && advice == authAdvice
            let words = isSSH ? sshAdvice : advice
            return Refusal(message: "a URL cannot carry a user or a password; \(words)", isSecret: true)
        }
        let isBucket = url[..<colon].lazy.map(\.asciiLowercased).elementsEqual("s3".utf8)
        return checkAuthority(url[start..<end], isBucket: isBucket)
    }

    private static func checkAuthority<Bytes: RandomAccessCollection<UInt8>>(
        _ authority: Bytes, isBucket: Bool
    ) -> Refusal? where Bytes.Index == Int {
        var host = authority[...]
        var port: Bytes.SubSequence?
        if host.first == UInt8(ascii: "[") {
            guard let close = host.firstIndex(of: UInt8(ascii: "]")), isIPv6(host[(host.startIndex + 1)..<close]) else {
                return Refusal(message: "the URL's IPv6 address is malformed")
            }
            let rest = host[(close + 1)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else {
                return Refusal(message: "the URL's IPv6 address is malformed")
            }
            if !rest.isEmpty { port = rest.dropFirst() }
            host = host[...close]
        } else if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
            port = host[(colon + 1)...]
            host = host[..<colon]
        }
        if host.isEmpty { return Refusal(message: "the URL has no host") }
        if host.contains(where: isForbidden) {
            return Refusal(message: "the URL's host is malformed")
        }
        if let message = isBucket ? nil : nameRefusal(host) { return Refusal(message: message) }
        guard let port, !port.isEmpty else { return nil }
        let number = Int(String(decoding: port, as: UTF8.self)) ?? 0
        guard port.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }), (1...65_535).contains(number)
        else {
            return Refusal(message: "the URL's port is not a number from 1 to 65535")
        }
        return nil
    }

    /// Returns the fault of a host name that is not plain ASCII.
    private static func nameRefusal(_ host: some Collection<UInt8>) -> String? {
        guard host.first != UInt8(ascii: "["), host.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }) else {
            return nil
        }
        do throws(HostName.Fault) {
            _ = try HostName.asciiForm(of: String(decoding: host, as: UTF8.self))
            return nil
        } catch {
            return "the URL's host is no name: \(error); write it as its owner does, or in ASCII (xn--…)"
        }
    }

    /// Checks only the alphabet; the resolver judges the rest. A zone (RFC 6874) follows a percent sign.
    private static func isIPv6(_ text: some Collection<UInt8>) -> Bool {
        let address = text.prefix { $0 != UInt8(ascii: "%") }
        return address.count > 1 && address.contains(UInt8(ascii: ":"))
            && address.allSatisfy {
                Character(UnicodeScalar($0)).isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
            UInt8(ascii: "}"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""):
            true
        default: false
        }
    }

    private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
