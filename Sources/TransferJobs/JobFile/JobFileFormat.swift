/// The forms of a job file.
public enum JobFileFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON document.
    case json
    /// A job a line; the first line may be a header.
    case jsonLines
    /// aria2's list: a URL a line.
    case urlList
    /// Metalink 4 (RFC 5854), or 3.
    case metalink

    /// Whether it's read as a whole, not by lines.
    package var isDocument: Bool { self == .json || self == .metalink }

    /// Told from the end of the file's name.
    ///
    /// - Returns: `nil` for other names: look at the contents.
    public init?(fileName: String) {
        let lower = fileName.lowercased()
        if lower.hasSuffix(".json") {
            self = .json
        } else if lower.hasSuffix(".jsonl") || lower.hasSuffix(".ndjson") {
            self = .jsonLines
        } else if lower.hasSuffix(".txt") {
            self = .urlList
        } else if lower.hasSuffix(".meta4") || lower.hasSuffix(".metalink") {
            self = .metalink
        } else {
            return nil
        }
    }

    /// Tells the format from the beginning of the contents: a first line that is a whole job or header makes JSON
    /// Lines; another `{` or `[`, a document; `<`, a Metalink; anything else, a list.
    ///
    /// - Parameter isWhole: Nothing follows these bytes.
    /// - Returns: `nil` when more bytes are needed.
    public static func sniff(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> JobFileFormat? {
        let text = bytes.bindMemory(to: UInt8.self)
        if !isWhole, byteOrderMark.starts(with: text) { return nil }
        var start = text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        while start < text.count, text[start] <= 0x20 { start += 1 }
        guard start < text.count else { return isWhole ? .urlList : nil }
        if text[start] == UInt8(ascii: "[") { return .json }
        if text[start] == UInt8(ascii: "<") { return .metalink }
        guard text[start] == UInt8(ascii: "{") else { return .urlList }
        guard let end = text[start...].firstIndex(of: 0x0A) ?? (isWhole ? text.count : nil) else {
            return text.count - start > maxFirstLine ? .json : nil
        }
        return isCompleteLine(UnsafeBufferPointer(rebasing: text[start..<end])) ? .jsonLines : .json
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
