import TransferCore

/// A scanner for XML documents in UTF-8, which returns elements with their attributes, and text.
///
/// The scanner is strict, so that faults are located exactly. It is also bounded: a document type may only name itself,
/// so no entities are expanded except XML's five and numeric character references. Nothing outside the document is
/// read. The memory in use is that of the open elements.
package struct XMLScanner {
    package struct Fault: Error, Hashable {
        package var message: String
        /// The range of bytes in the document.
        package var range: Range<Int>
    }

    package struct Attribute: Hashable {
        package var name: XMLName
        package var value: String
        package var range: Range<Int>
    }

    package enum Event: Hashable {
        case start(XMLName, [Attribute], Range<Int>)
        case end(XMLName, Range<Int>)
        /// A text with entities replaced; the text between two elements may arrive in several pieces.
        case text(String, Range<Int>)
    }

    /// The maximum nesting, deeper than any list of files.
    private static let maxDepth = 64
    private static let maxAttributes = 64

    private struct Open {
        var written: Range<Int>
        var name: XMLName
        var spaces: [String: String]
        var range: Range<Int>
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    package private(set) var offset: Int
    private var open: [Open] = []
    private var hasRoot = false
    /// The end event of an element without content.
    private var pendingEnd: Event?
    private var hasDocumentType = false
    private let start: Int

    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        start = bytes.starts(with: JobFileFormat.byteOrderMark) ? JobFileFormat.byteOrderMark.count : 0
        offset = start
    }

    /// Returns the next event.
    ///
    /// - Returns: `nil` at the end of the document.
    package mutating func next() throws(Fault) -> Event? {
        if let end = pendingEnd {
            pendingEnd = nil
            open.removeLast()
            return end
        }
        while offset < bytes.count {
            if bytes[offset] != UInt8(ascii: "<") {
                if let text = try text() { return text }
            } else if has("<!--") {
                try comment()
            } else if has("<![CDATA[") {
                return try characterData()
            } else if has("<?") {
                try instruction()
            } else if has("<!") {
                try documentType()
            } else {
                return try tag()
            }
        }
        if let last = open.last {
            throw Fault(message: "the document ends within <\(spelling(last.written))>", range: last.range)
        }
        guard hasRoot else { throw Fault(message: "no element is in the document", range: start..<start + 1) }
        return nil
    }

    // MARK: Text

    /// Reads text.
    ///
    /// - Returns: `nil` for white space outside the root.
    private mutating func text() throws(Fault) -> Event? {
        let begin = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") { offset += 1 }
        let range = begin..<offset
        guard !open.isEmpty else {
            guard let other = range.first(where: { !Self.isSpace(bytes[$0]) }) else { return nil }
            throw Fault(
                message: hasRoot ? "text behind the end of the document" : "no XML: it begins with <",
                range: other..<other + 1)
        }
        return .text(try decoded(range), range)
    }

    private mutating func characterData() throws(Fault) -> Event {
        let begin = offset
        let content = offset + "<![CDATA[".utf8.count
        try skip(to: "]]>", from: content, "CDATA section")
        guard !open.isEmpty else {
            throw Fault(message: "text outside of the document's element", range: begin..<begin + 1)
        }
        return .text(try utf8(content..<offset - 3), begin..<offset)
    }

    private mutating func comment() throws(Fault) { try skip(to: "-->", from: offset + 4, "comment") }

    /// Skips a processing instruction; an XML declaration may name the encoding.
    private mutating func instruction() throws(Fault) {
        let begin = offset
        let isDeclaration = has("<?xml") && offset + 5 < bytes.count && Self.isSpace(bytes[offset + 5])
        try skip(to: "?>", from: offset + 2, "processing instruction")
        guard isDeclaration else { return }
        guard begin == start else {
            throw Fault(message: "<?xml … ?> stands at the beginning or not at all", range: begin..<begin + 5)
        }
        let words = String(decoding: bytes[begin..<offset], as: UTF8.self).lowercased()
        guard let name = words.firstRange(of: "encoding") else { return }
        let value = words[name.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "'" || $0 == "\"" }
            .prefix { $0 != "'" && $0 != "\"" }
        guard ["utf-8", "utf8", "us-ascii"].contains(String(value)) else {
            throw Fault(
                message: "the encoding is \(Wording.quoted(String(value))); write the document in UTF-8",
                range: begin..<offset)
        }
    }

    /// Skips a document type that contains no declarations.
    private mutating func documentType() throws(Fault) {
        let begin = offset
        guard has("<!DOCTYPE"), !hasRoot, !hasDocumentType else {
            throw Fault(message: "a declaration cannot stand here", range: begin..<begin + 2)
        }
        hasDocumentType = true
        while offset < bytes.count, bytes[offset] != UInt8(ascii: ">") {
            if bytes[offset] == UInt8(ascii: "[") {
                throw Fault(
                    message: "a document type with declarations is not read: entities of its own could be anything",
                    range: offset..<offset + 1)
            }
            offset += 1
        }
        guard offset < bytes.count else {
            throw Fault(message: "the document type has no end", range: begin..<begin + 2)
        }
        offset += 1
    }

    // MARK: Tags

    private mutating func tag() throws(Fault) -> Event {
        let begin = offset
        offset += 1
        let isEnd = offset < bytes.count && bytes[offset] == UInt8(ascii: "/")
        if isEnd { offset += 1 }
        let written = try name("an element's name")
        if isEnd { return try endTag(written, begin) }
        guard !open.isEmpty || !hasRoot else {
            throw Fault(
                message: "a second element behind the end of the document", range: begin..<written.upperBound)
        }
        guard open.count < Self.maxDepth else {
            throw Fault(
                message: "more than \(CountText.words(Self.maxDepth, "element")) within each other",
                range: begin..<written.upperBound)
        }
        var pairs: [(name: Range<Int>, value: String)] = []
        var isEmpty = false
        while true {
            let hadSpace = skipSpace()
            guard offset < bytes.count else { throw unfinished(begin, written) }
            if bytes[offset] == UInt8(ascii: ">") { break }
            if bytes[offset] == UInt8(ascii: "/") {
                offset += 1
                guard offset < bytes.count, bytes[offset] == UInt8(ascii: ">") else {
                    throw unfinished(begin, written)
                }
                isEmpty = true
                break
            }
            guard hadSpace else {
                throw Fault(message: "a space is missing before an attribute", range: offset..<offset + 1)
            }
            guard pairs.count < Self.maxAttributes else {
                throw Fault(
                    message: "more than \(CountText.words(Self.maxAttributes, "attribute"))", range: offset..<offset + 1
                )
            }
            let pair = try attribute()
            guard !pairs.contains(where: { spelling($0.name) == spelling(pair.name) }) else {
                throw Fault(message: "the attribute \(spelling(pair.name)) is there twice", range: pair.name)
            }
            pairs.append(pair)
        }
        offset += 1
        return try opened(written, pairs, begin..<offset, isEmpty: isEmpty)
    }

    private mutating func opened(
        _ written: Range<Int>, _ pairs: [(name: Range<Int>, value: String)], _ range: Range<Int>, isEmpty: Bool
    ) throws(Fault) -> Event {
        var spaces = open.last?.spaces ?? ["xml": "http://www.w3.org/XML/1998/namespace"]
        for pair in pairs {
            let key = spelling(pair.name)
            if key == "xmlns" { spaces[""] = pair.value }
            if key.hasPrefix("xmlns:") { spaces[String(key.dropFirst(6))] = pair.value }
        }
        let name = try resolved(written, spaces, isAttribute: false)
        var attributes: [Attribute] = []
        for pair in pairs {
            let key = spelling(pair.name)
            guard key != "xmlns", !key.hasPrefix("xmlns:") else { continue }
            attributes.append(
                Attribute(
                    name: try resolved(pair.name, spaces, isAttribute: true), value: pair.value, range: pair.name))
        }
        open.append(Open(written: written, name: name, spaces: spaces, range: written))
        hasRoot = true
        if isEmpty { pendingEnd = .end(name, range) }
        return .start(name, attributes, range)
    }

    private mutating func endTag(_ written: Range<Int>, _ begin: Int) throws(Fault) -> Event {
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ">") else { throw unfinished(begin, written) }
        offset += 1
        guard let last = open.last, spelling(last.written) == spelling(written) else {
            let wanted = open.last.map { "; </\(spelling($0.written))> was to come" } ?? ""
            throw Fault(message: "</\(spelling(written))> ends nothing\(wanted)", range: begin..<offset)
        }
        open.removeLast()
        return .end(last.name, begin..<offset)
    }

    private mutating func attribute() throws(Fault) -> (name: Range<Int>, value: String) {
        let name = try name("an attribute's name")
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
            throw Fault(message: "the attribute \(spelling(name)) has no value", range: name)
        }
        offset += 1
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
            throw Fault(message: "the value of \(spelling(name)) needs quotes", range: name)
        }
        let quote = bytes[offset]
        let start = offset + 1
        offset = start
        while offset < bytes.count, bytes[offset] != quote {
            guard bytes[offset] != UInt8(ascii: "<") else {
                throw Fault(message: "< cannot stand in a value; write &lt;", range: offset..<offset + 1)
            }
            offset += 1
        }
        guard offset < bytes.count else {
            throw Fault(message: "the value of \(spelling(name)) has no end", range: name)
        }
        let value = try decoded(start..<offset)
        offset += 1
        return (name, value)
    }

    private func resolved(
        _ written: Range<Int>, _ spaces: [String: String], isAttribute: Bool
    ) throws(Fault) -> XMLName {
        let name = spelling(written)
        guard let colon = name.firstIndex(of: ":") else {
            return XMLName(space: isAttribute ? "" : spaces[""] ?? "", local: name)
        }
        let prefix = String(name[..<colon])
        guard let space = spaces[prefix] else {
            throw Fault(message: "the prefix \(prefix): is not declared", range: written)
        }
        return XMLName(space: space, local: String(name[name.index(after: colon)...]))
    }

    // MARK: Characters

    private mutating func name(_ what: String) throws(Fault) -> Range<Int> {
        let begin = offset
        while offset < bytes.count, Self.isNameByte(bytes[offset]) { offset += 1 }
        guard offset > begin, !Self.cannotBegin(bytes[begin]) else {
            throw Fault(message: "\(what) is missing", range: begin..<begin + 1)
        }
        _ = try utf8(begin..<offset)
        return begin..<offset
    }

    private func unfinished(_ begin: Int, _ written: Range<Int>) -> Fault {
        Fault(message: "the tag \(spelling(written)) has no end", range: begin..<written.upperBound)
    }

    private func spelling(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func has(_ start: StaticString) -> Bool {
        guard offset + start.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<start.utf8CodeUnitCount).allSatisfy { bytes[offset + $0] == start.utf8Start[$0] }
    }

    /// Moves `offset` past the end marker.
    private mutating func skip(to end: StaticString, from content: Int, _ what: String) throws(Fault) {
        let begin = offset
        offset = content
        while offset < bytes.count {
            if has(end) {
                offset += end.utf8CodeUnitCount
                return
            }
            offset += 1
        }
        throw Fault(message: "the \(what) has no end", range: begin..<begin + 2)
    }

    private mutating func skipSpace() -> Bool {
        let begin = offset
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
        return offset > begin
    }

    private func utf8(_ range: Range<Int>) throws(Fault) -> String {
        var index = range.lowerBound
        while index < range.upperBound {
            guard let length = UTF8Sequence.length(at: index, in: bytes) else {
                throw Fault(message: "invalid UTF-8", range: index..<index + 1)
            }
            if bytes[index] < 0x20, !Self.isSpace(bytes[index]) {
                throw Fault(message: "XML cannot hold control characters", range: index..<index + 1)
            }
            index += length
        }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// Returns the text with its references replaced by characters.
    private func decoded(_ range: Range<Int>) throws(Fault) -> String {
        guard let first = bytes[range].firstIndex(of: UInt8(ascii: "&")) else { return try utf8(range) }
        var result = try utf8(range.lowerBound..<first)
        var index = first
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "&") else {
                let end = bytes[index..<range.upperBound].firstIndex(of: UInt8(ascii: "&")) ?? range.upperBound
                result += try utf8(index..<end)
                index = end
                continue
            }
            let limit = min(range.upperBound, index + 16)
            guard let end = bytes[index..<limit].firstIndex(of: UInt8(ascii: ";")) else {
                throw Fault(message: "& alone; write &amp;", range: index..<index + 1)
            }
            let name = try utf8(index + 1..<end)
            guard let character = Self.character(name) else {
                throw Fault(
                    message: "the entity &\(name); is not known: XML's own five and numbers of characters are",
                    range: index..<end + 1)
            }
            result.unicodeScalars.append(character)
            index = end + 1
        }
        return result
    }

    /// Returns the character of a reference. XML 1.0 allows no control characters other than these (section 2.2).
    private static func character(_ name: String) -> Unicode.Scalar? {
        let scalar = XMLReference.character(name)
        guard let scalar, scalar.value < 0x20 else { return scalar }
        return [0x09, 0x0A, 0x0D].contains(scalar.value) ? scalar : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ":"), 0x80...:
            true
        default: false
        }
    }

    private static func cannotBegin(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
