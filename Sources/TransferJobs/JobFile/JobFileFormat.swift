/// The forms of a job file.
public enum JobFileFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON document.
    case json
    /// One job a line, as JSON; the first line may be a header.
    case jsonLines
    /// A list as aria2 reads it: one URL a line, followed by indented options.
    case urlList
    /// A list as wget reads it: one URL a line and nothing else.
    case plainURLs
    /// A configuration file of curl, as read by `curl --config`.
    case curl
    /// Comma-separated values (RFC 4180) whose first line names the keys.
    case csv
    /// An XML document in the Metalink format, version 4 (RFC 5854) or 3.
    case metalink

    /// Whether the file is read as a whole rather than by lines.
    package var isDocument: Bool { self == .json || self == .metalink }

    /// Whether the jobs have no JSON path, because the file is one of the forms of URL lists.
    package var isList: Bool { [.urlList, .plainURLs, .curl, .csv].contains(self) }

    /// Determines the form from the suffix of the file's name; a `.txt` file may be any list.
    ///
    /// - Returns: `nil` for other names, where the contents decide.
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

    /// Determines the form from the beginning of the contents. A first line that is a whole job or header means JSON
    /// Lines, another `{` or `[` a JSON document, and `<` a Metalink. Anything else is a list: names of columns in the
    /// first line mean CSV, and an option of curl means curl's file.
    ///
    /// - Parameter isWhole: Whether nothing follows these bytes.
    /// - Returns: `nil` where more bytes are needed.
    public static func sniff(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> JobFileFormat? {
        let text = bytes.bindMemory(to: UInt8.self)
        if !isWhole, byteOrderMark.starts(with: text) { return nil }
        var start = text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        while start < text.count, text[start] <= 0x20 { start += 1 }
        guard start < text.count else { return isWhole ? .urlList : nil }
        if text[start] == UInt8(ascii: "[") || text[start] == UInt8(ascii: "<") {
            // A link as written in notes; its line is refused as a line of a list.
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

    /// Returns the form of list.
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
    /// The maximum length of a first line in bytes: no job is longer, but a document on one line may be.
    private static let maxFirstLine = 1 << 20

    /// Returns whether the line is a whole object that is not a document with jobs.
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
