/// An element of a small XML document, such as an answer of S3 or a call of XML-RPC: names without their prefixes, no attributes.
///
/// The parser covers the output of such programs rather than all of XML 1.0. Entities of a document's own are not
/// expanded. An end tag also ends unclosed elements inside its own, and one without an element is ignored. A truncated
/// document is read up to its end.
package struct XMLElement: Sendable, Hashable {
    package var name: String
    /// The element's own text, without that of its children.
    package var text: String
    package var children: [XMLElement] = []
    /// Whether the document has the element's end tag.
    package var isWhole = true

    /// Parses a document.
    ///
    /// - Returns: `nil` when there is no element at all.
    package static func read(_ bytes: [UInt8]) -> XMLElement? {
        var reader = XMLReader(bytes)
        return reader.read()
    }

    /// Returns the first child of that name.
    package func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// Returns the text of the first child of that name, without surrounding white space; `nil` for an empty text.
    package func text(_ name: String) -> String? {
        guard let child = child(name), child.isWhole else { return nil }
        let start = child.text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(start[...last])
    }

    /// Escapes a text for the content of an element.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

private struct XMLReader {
    /// The bounds of the parser: deeper nesting or more elements than any such document end it.
    static let maxDepth = 32
    static let maxElements = 50_000

    private struct Open {
        var name: String
        var text: [UInt8] = []
        var children: [XMLElement] = []
    }

    private let bytes: [UInt8]
    private var index = 0
    private var stack: [Open] = []
    private var root: XMLElement?
    private var count = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() -> XMLElement? {
        while root == nil, index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                readText()
                continue
            }
            if skip("<!--", to: "-->") || skip("<?", to: "?>") || readCharacterData() || skipDeclaration() { continue }
            guard readTag() else { break }
        }
        while root == nil, !stack.isEmpty { close(isWhole: false) }
        return root
    }

    private mutating func readText() {
        let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        if !stack.isEmpty { stack[stack.count - 1].text += Self.unescaped(bytes[index..<end]) }
        index = end
    }

    private mutating func readCharacterData() -> Bool {
        let start = index + "<![CDATA[".utf8.count
        guard skip("<![CDATA[", to: "]]>") else { return false }
        if !stack.isEmpty, index - 3 >= start { stack[stack.count - 1].text += bytes[start..<index - 3] }
        return true
    }

    /// Skips a document type; its declarations in brackets are not used.
    private mutating func skipDeclaration() -> Bool {
        guard has("<!") else { return false }
        var brackets = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "[") { brackets += 1 }
            if byte == UInt8(ascii: "]") { brackets -= 1 }
            if byte == UInt8(ascii: ">"), brackets <= 0 { break }
        }
        return true
    }

    /// Reads a tag.
    ///
    /// - Returns: `false` at a truncated tag or one tag too many, where the parser ends.
    private mutating func readTag() -> Bool {
        let isEnd = index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/")
        let nameStart = index + (isEnd ? 2 : 1)
        guard nameStart <= bytes.count else { return false }
        var end = nameStart
        var quote: UInt8?
        while end < bytes.count, quote != nil || bytes[end] != UInt8(ascii: ">") {
            let byte = bytes[end]
            if byte == quote {
                quote = nil
            } else if quote == nil, !isEnd, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            end += 1
        }
        guard end < bytes.count else { return false }
        index = end + 1
        let name = Self.localName(bytes[nameStart..<end])
        if isEnd {
            guard let open = stack.lastIndex(where: { $0.name == name }) else { return true }
            while stack.count > open + 1 { close(isWhole: false) }
            close(isWhole: true)
            return true
        }
        count += 1
        guard stack.count < Self.maxDepth, count <= Self.maxElements else { return false }
        stack.append(Open(name: name))
        if end > nameStart, bytes[end - 1] == UInt8(ascii: "/") { close(isWhole: true) }
        return true
    }

    private mutating func close(isWhole: Bool) {
        let open = stack.removeLast()
        let element = XMLElement(
            name: open.name, text: String(decoding: open.text, as: UTF8.self), children: open.children,
            isWhole: isWhole)
        if stack.isEmpty {
            root = element
        } else {
            stack[stack.count - 1].children.append(element)
        }
    }

    private func has(_ start: String) -> Bool { bytes[index...].starts(with: start.utf8) }

    /// Skips a section with these delimiters. Without its end, the rest of the document belongs to it.
    ///
    /// - Returns: Whether a section begins here.
    private mutating func skip(_ start: String, to end: String) -> Bool {
        guard has(start) else { return false }
        index += start.utf8.count
        let last = Array(end.utf8)
        while index < bytes.count {
            if bytes[index...].starts(with: last) {
                index += last.count
                return true
            }
            index += 1
        }
        return true
    }

    private static func localName(_ tag: ArraySlice<UInt8>) -> String {
        let name = tag.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local, as: UTF8.self)
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
        var result: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "&"),
                let end = text[index...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let scalar = XMLReference.character(String(decoding: text[index + 1..<end], as: UTF8.self))
            {
                result += Array(String(scalar).utf8)
                index = end + 1
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return result
    }
}
