/// The detection of other tools' lists by their first line.
package enum ListForm {
    /// Returns the form of a list.
    ///
    /// - Parameter line: The first line that is neither empty nor a comment.
    package static func of(_ line: [UInt8]) -> JobFileFormat {
        let text = String(decoding: line, as: UTF8.self).trimmed
        // An option of curl may have the name of a column, but no separator follows it.
        if isHeader(text), text.contains(where: { ",;\t".contains($0) }) { return .csv }
        // The line's last character may be a tab.
        let whole = String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
        if CSVRecord.Separator(declaredBy: whole) != nil { return .csv }
        if isCurl(text) { return .curl }
        return isHeader(text) ? .csv : .urlList
    }

    /// Returns whether the line is an option of curl. A URL begins neither with a dash nor with the name of an option.
    private static func isCurl(_ text: Substring) -> Bool {
        // A dash followed by a blank occurs in people's notes.
        if text.hasPrefix("-") { return text.dropFirst().first.map { !$0.isWhitespace } ?? false }
        let name = text.prefix { !" \t=:".contains($0) }
        let rest = text.dropFirst(name.count).drop { " \t=:".contains($0) }
        if let option = CurlOption.named(String(name)) { return option.takesValue != rest.isEmpty }
        guard name.hasPrefix("no-"), let option = CurlOption.named(String(name.dropFirst(3))) else { return false }
        return !option.takesValue && rest.isEmpty
    }

    /// Returns whether the line names columns, one of them for the source of transfers.
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
