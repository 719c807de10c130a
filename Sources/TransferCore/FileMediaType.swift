/// The media type of a file by the extension of its name, since not every Linux system has a type database.
public enum FileMediaType {
    /// The type of unknown content (RFC 2046 §4.5.1).
    public static let unknown = "application/octet-stream"

    /// Returns the type for an extension, or ``unknown``.
    ///
    /// - Parameter fileExtension: The extension without the dot, in any case.
    public static func of(fileExtension: String) -> String { table[fileExtension.lowercased()] ?? unknown }

    /// Returns the type for a file with several names.
    ///
    /// - Parameter names: Names of the same file, without folders; the first with a known extension counts.
    /// - Returns: `nil` where no name has a known extension.
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
