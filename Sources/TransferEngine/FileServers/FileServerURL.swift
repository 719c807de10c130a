import TransferCore

/// A place on a server that speaks FTP or SFTP.
///
/// The path of `ftp` URLs begins in the folder that the server opens after login, and `%2F` leads to its root (RFC 1738
/// §3.2.2). The path of `sftp` URLs begins at the root, and `/~/` in the home folder (as in curl). A `?` is an ordinary
/// character. So is `;`, except before the type of an `ftp` URL (``FTPTypeCode``).
struct FileServerURL: Sendable, Hashable {
    let origin: Origin
    /// The path without percent codes. FTP paths are as the server gets them, without the slash behind the host; SFTP
    /// paths have it.
    let path: [UInt8]

    /// Returns whether the URL can only be a file server's: no other supported scheme begins with these letters.
    static func isMeant(by url: String) -> Bool {
        switch url.utf8.first {
        case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "s"), UInt8(ascii: "S"): true
        default: false
        }
    }

    /// Returns whether a server may send a file from its beginning when its middle was requested: FTP's REST is a
    /// separate command.
    static func mayIgnoreOffsets(_ url: String) -> Bool {
        url.utf8.prefix(3).elementsEqual("ftp".utf8) { $0 | 0x20 == $1 }
    }

    /// Parses a URL.
    ///
    /// - Throws: `badURL`, also for names that cannot be sent.
    init(_ url: String) throws(TransferError) {
        let url = FTPTypeCode.split(url)?.url ?? url
        guard let origin = Origin(fileServerURL: url) else {
            throw TransferError(.badURL, "not an ftp, ftps or sftp URL: \(Redaction.url(url))")
        }
        self.origin = origin
        let whole = url.prefix { $0 != "#" }
        let bytes = whole.utf8
        // The authority is behind `://`, whose existence the origin has shown.
        let authority = bytes.firstIndex(of: UInt8(ascii: ":")).map { bytes.index($0, offsetBy: 3) } ?? bytes.startIndex
        let start = bytes[authority...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        var path = start.map { PercentEncoding.decode(whole[$0...]) } ?? []
        if origin.scheme != "sftp", path.first == UInt8(ascii: "/") { path.removeFirst() }
        // A line break or a zero would end a command of FTP and begin another.
        guard !path.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
            throw TransferError(.badURL, "a line break or a zero in \(Redaction.url(url))")
        }
        self.path = path
    }

    var isSSH: Bool { origin.scheme == "sftp" }

    /// Whether the connection begins with TLS.
    var isImplicitTLS: Bool { origin.scheme == "ftps" }

    var isFolder: Bool { path.isEmpty || path.last == UInt8(ascii: "/") }

    /// The same place for libcurl, spelt so that no character has a second meaning.
    var text: String {
        var rest = path[...]
        var text = root
        if isSSH {
            rest = rest.dropFirst()
            // libcurl takes each path that begins with a tilde for the home folder (`~bob/x` for `~/ob/x`).
            if rest.first == UInt8(ascii: "~"), !rest.starts(with: "~/".utf8) { text += "./" }
        } else if rest.first == UInt8(ascii: "/") {
            text += "%2F"
            rest = rest.dropFirst()
        }
        return text + Self.encode(rest)
    }

    /// The same place without the final slash that marks a folder.
    var name: String { text.count > root.count && text.hasSuffix("/") ? String(text.dropLast()) : text }

    /// The URL of the server alone, for steps whose command has the path.
    var root: String {
        let host = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
        return "\(origin.scheme)://\(host):\(origin.port)/"
    }

    /// Returns the path for a command.
    ///
    /// - Throws: `badURL` where the path is not UTF-8.
    func commandPath() throws(TransferError) -> String {
        guard let name = String(validating: path, as: UTF8.self) else {
            throw TransferError(
                .badURL, "a name that is not UTF-8 cannot be put into a command: \(Redaction.url(text))")
        }
        guard isSSH else { return name }
        // Commands do not support `/~/`. A path without a leading slash begins in the home folder (sftp-server(8)).
        let place = name.hasPrefix("/~/") ? String(name.dropFirst(3)) : name
        return Self.quoted(place.isEmpty ? "." : place)
    }

    /// Returns the folders above this one and itself, each in the form for a command.
    func folders() throws(TransferError) -> [String] {
        guard let name = String(validating: path, as: UTF8.self) else {
            throw TransferError(
                .badURL, "a name that is not UTF-8 cannot be put into a command: \(Redaction.url(text))")
        }
        let isAtHome = name.hasPrefix("/~/")
        let parts = (isAtHome ? name.dropFirst(3) : name[...]).split(separator: "/")
        return parts.indices.map { index in
            let place = parts[...index].joined(separator: "/")
            return Self.quoted(isAtHome || !name.hasPrefix("/") ? place : "/" + place)
        }
    }

    /// Quotes a name as libcurl parses names in commands of SFTP (CURLOPT_QUOTE(3)).
    private static func quoted(_ name: String) -> String {
        "\"" + name.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }

    private static func encode(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(
            decoding: bytes.flatMap { byte -> [UInt8] in
                switch byte {
                case 0x2D...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x7E: [byte]
                default: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
            }, as: UTF8.self)
    }
}
