/// The media type of a file by its name's extension; there is no type database on every Linux.
public enum FileMediaType {
    /// The type of content that nothing is known about (RFC 2046 §4.5.1).
    public static let unknown = "application/octet-stream"

    /// - Parameter fileExtension: Without the dot, in any case.
    public static func of(fileExtension: String) -> String { table[fileExtension.lowercased()] ?? unknown }

    /// - Parameter names: Names of the same file, without folders; the first one that says something counts.
    /// - Returns: `nil` where none has an extension that the table knows.
    public static func suggested(by names: String?...) -> String? {
        names.lazy.compactMap { name -> String? in
            guard let name, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
            return table[name[dot...].dropFirst().lowercased()]
        }.first
    }

    static let table: [String: String] = {
        var table: [String: String] = [:]
        for line in MediaTypeTable.lines.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            for fileExtension in words.dropFirst() { table[fileExtension] = words[0] }
        }
        return table
    }()
}
