/// The forms of a job file.
public enum JobFileFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON document.
    case json
    /// A job a line; the first line may be a header.
    case jsonLines
    /// aria2's list: a URL a line, with indented options behind it.
    case urlList
    /// A URL a line and nothing else, as wget reads it.
    case plainURLs
    /// The file that `curl --config` takes.
    case curl
    /// Comma-separated values (RFC 4180), whose first line names the keys.
    case csv
    /// Metalink 4 (RFC 5854), or 3.
    case metalink

    /// Whether it's read as a whole, not by lines.
    package var isDocument: Bool { self == .json || self == .metalink }

    /// Whether its jobs have no JSON path: a list of URLs in one of its forms.
    package var isList: Bool { [.urlList, .plainURLs, .curl, .csv].contains(self) }

    /// Told from the end of the file's name; `.txt` may be any list.
    ///
    /// - Returns: `nil` for other names: look at the contents.
    public init?(fileName: String) {
        let lower = fileName.lowercased()
        if lower.hasSuffix(".json") {
            self = .json
        } else if lower.hasSuffix(".jsonl") || lower.hasSuffix(".ndjson") {
            self = .jsonLines
        } else if lower.hasSuffix(".csv") {
            self = .csv
        } else if lower.hasSuffix("curlrc") {
            self = .curl
        } else if lower.hasSuffix(".meta4") || lower.hasSuffix(".metalink") {
            self = .metalink
        } else {
            return nil
        }
    }

    /// Tells the format from the beginning of the contents: a first line that is a whole job or header makes JSON
    /// Lines; another `{` or `[`, a document; `<`, a Metalink; anything else, a list, whose first line tells which:
    /// names of columns make a CSV, and an option of curl its file.
    ///
    /// - Parameter isWhole: Nothing follows these bytes.
    /// - Returns: `nil` when more bytes are needed.
    public static func sniff(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> JobFileFormat? {
        let text = bytes.bindMemory(to: UInt8.self)
        if !isWhole, byteOrderMark.starts(with: text) { return nil }
        var start = text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        while start < text.count, text[start] <= 0x20 { start += 1 }
        guard start < text.count else { return isWhole ? .urlList : nil }
        if text[start] == UInt8(ascii: "[") || text[start] == UInt8(ascii: "<") {
            // A link as people write it in notes: its line is refused as that of a list.
            let line = text[start...].prefix(256).prefix { $0 != 0x0A }
            if ListSlip.isLink(String(decoding: line, as: UTF8.self)) { return .urlList }
            return text[start] == UInt8(ascii: "[") ? .json : .metalink
        }
        guard text[start] == UInt8(ascii: "{") else {
            return list(UnsafeBufferPointer(rebasing: text[start...]), isWhole: isWhole)
        }
        guard let end = text[start...].firstIndex(of: 0x0A) ?? (isWhole ? text.count : nil) else {
            return text.count - start > maxFirstLine ? .json : nil
        }
        return isCompleteLine(UnsafeBufferPointer(rebasing: text[start..<end])) ? .jsonLines : .json
    }

    /// Which list it is.
    private static func list(_ text: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> JobFileFormat? {
        var start = 0
        while start < text.count {
            let newline = text[start...].firstIndex(of: 0x0A)
            guard newline != nil || isWhole else { return text.count > maxFirstLine ? .urlList : nil }
            let end = newline ?? text.count
            let line = text[start..<end].drop { $0 <= 0x20 }
            start = end + 1
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            return line.count > maxFirstLine ? .urlList : ListForm.of(Array(line))
        }
        return isWhole || text.count > maxFirstLine ? .urlList : nil
    }

    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// No job is as long; a document on one line is.
    private static let maxFirstLine = 1 << 20

    /// Whether the line is a whole object, but not a document with its jobs.
    private static func isCompleteLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        var reader = JSONReader(line)
        var isFirst = true
        var hasJobs = false
        do {
            try reader.beginObject()
            while let key = try reader.key(isFirst: &isFirst) {
                if reader.string(key) == FileKey.jobs.rawValue { hasJobs = true }
                try reader.skipValue(checkingKeys: false)
            }
            try reader.expectEnd()
            return !hasJobs
        } catch {
            return false
        }
    }
}
