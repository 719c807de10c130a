/// Tells the lists of other tools by their first line.
package enum ListForm {
    /// - Parameter line: The first line that is neither empty nor a comment.
    package static func of(_ line: [UInt8]) -> JobFileFormat {
        let text = String(decoding: line, as: UTF8.self).trimmed
        // An option of curl's may be called as a column, but has no column beside it.
        if isHeader(text), text.contains(where: { ",;\t".contains($0) }) { return .csv }
        // A tab may be the last letter.
        let whole = String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
        if CSVRecord.Separator(declaredBy: whole) != nil { return .csv }
        if isCurl(text) { return .curl }
        return isHeader(text) ? .csv : .urlList
    }

    /// Whether it's an option of curl. A URL begins neither with a dash nor with such a name.
    private static func isCurl(_ text: Substring) -> Bool {
        // A dash alone is that of people's notes.
        if text.hasPrefix("-") { return text.dropFirst().first.map { !$0.isWhitespace } ?? false }
        let name = text.prefix { !" \t=:".contains($0) }
        let rest = text.dropFirst(name.count).drop { " \t=:".contains($0) }
        if let option = CurlOption.named(String(name)) { return option.takesValue != rest.isEmpty }
        guard name.hasPrefix("no-"), let option = CurlOption.named(String(name.dropFirst(3))) else { return false }
        return !option.takesValue && rest.isEmpty
    }

    /// Whether it names columns, one of which says what is moved.
    private static func isHeader(_ text: Substring) -> Bool {
        let cells = text.split { ",;\t".contains($0) }.map { $0.trimmed.filter { $0 != "\"" }.lowercased() }
        return !text.contains("/") && cells.contains { ["url", "download", "upload"].contains($0) }
    }
}

extension StringProtocol where SubSequence == Substring {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
