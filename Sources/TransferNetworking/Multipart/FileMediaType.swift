/// The media type of a file by its name's extension; there is no type database on every Linux.
enum FileMediaType {
    /// - Parameter fileExtension: Without the dot, in any case.
    static func of(fileExtension: String) -> String { table[fileExtension.lowercased()] ?? MediaTypeTable.unknown }

    static let table: [String: String] = {
        var table: [String: String] = [:]
        for line in MediaTypeTable.lines.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            for fileExtension in words.dropFirst() { table[fileExtension] = words[0] }
        }
        return table
    }()
}
