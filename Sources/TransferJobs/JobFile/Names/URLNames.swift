import TransferCore

/// The parts of a URL as names of files and folders, decoded and made safe.
package struct URLNames {
    /// The host, followed by an underscore and the port where that is not the scheme's default.
    package let host: String
    /// The components of the path; `index.html` stands for a file without a name.
    package let path: [String]
    /// The query without the values that sign the URL, since everyone can see a file's name.
    package let query: String

    package var name: String { path.last ?? Self.unnamed }

    /// The extension without the dot; empty for a name without one.
    package var fileExtension: String {
        guard let dot = name.dropFirst().lastIndex(of: ".") else { return "" }
        return String(name[name.index(after: dot)...])
    }

    private static let unnamed = "index.html"

    package init(_ url: String) {
        let url = Redaction.url(FTPTypeCode.split(url)?.url ?? url)
        let bytes = url.utf8
        let start = bytes.firstIndex(of: UInt8(ascii: ":")).map { bytes[$0...].dropFirst(3).startIndex }
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let rest = start.map { $0 <= end ? bytes[$0..<end] : bytes[end..<end] } ?? bytes[..<end]
        let question = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let slash = rest[..<question].firstIndex(of: UInt8(ascii: "/")) ?? question
        host = Self.host(Substring(rest[..<slash]), of: url)
        var names = Substring(rest[slash..<question]).split(separator: "/").compactMap(Self.safe)
        if rest[slash..<question].last ?? UInt8(ascii: "/") == UInt8(ascii: "/") { names.append(Self.unnamed) }
        path = names.isEmpty ? [Self.unnamed] : names
        let pairs = Substring(rest[question...].dropFirst()).split(separator: "&").filter {
            !$0.contains(Redaction.mark)
        }
        query = Self.safe(Substring(pairs.joined(separator: "&"))) ?? ""
    }

    private static func host(_ authority: Substring, of url: String) -> String {
        safe(Substring(Origin(anyURL: url)?.hostAndPort ?? authority.lowercased())) ?? "_"
    }

    private static func safe(_ text: Substring) -> String? {
        let decoded = String(decoding: PercentEncoding.decode(text), as: UTF8.self)
        // A slash within a decoded component must not separate folders.
        let scalars = decoded.unicodeScalars.map { $0 == "/" || $0 == "\\" ? "_" : $0 }
        return SafeFileName.make(String(String.UnicodeScalarView(scalars)))
    }
}
