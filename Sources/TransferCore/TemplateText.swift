/// Text with placeholders in braces for values that differ from one use to the next, such as `{name}` and `{n:04}`;
/// `{{` is a brace.
public struct TemplateText: Sendable, Hashable {
    /// A part of the text.
    public enum Part: Sendable, Hashable {
        case text(String)
        case place(Place)
    }

    /// The content of a pair of braces.
    public struct Place: Sendable, Hashable {
        /// The name of the placeholder.
        public var name: String
        /// The text after a colon; `nil` for none.
        public var form: String?

        /// The placeholder as written, without the braces.
        public var text: String { form.map { "\(name):\($0)" } ?? name }
    }

    /// The interpretation of braces.
    public enum Braces: Sendable, Hashable {
        /// Every brace opens a placeholder.
        case places
        /// Braces around a word of Latin letters, with an optional colon after it, are a placeholder. Others are text,
        /// since they may be part of a name: `{1}`, `{}`, `{`.
        case words
    }

    /// The error of an unclosed brace.
    public struct OpenBrace: Error, Sendable, Hashable {}

    /// The parts in their order.
    public let parts: [Part]

    /// Parses a text.
    ///
    /// - Throws: ``OpenBrace`` for an unclosed brace.
    public init(_ text: String, braces: Braces) throws(OpenBrace) {
        var parts: [Part] = []
        var plain = ""
        var rest = Substring(text)
        while let open = rest.utf8.firstIndex(of: Self.brace) {
            plain += rest[..<open]
            let inner = rest[rest.utf8.index(after: open)...]
            if inner.utf8.first == Self.brace {
                plain += "{"
                rest = inner.dropFirst()
                continue
            }
            let close = inner.utf8.firstIndex(of: UInt8(ascii: "}"))
            if close == nil, braces == .places { throw OpenBrace() }
            guard let close, let place = Self.place(inner[..<close], braces) else {
                plain += "{"
                rest = inner
                continue
            }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.place(place))
            rest = inner[inner.utf8.index(after: close)...]
        }
        plain += rest
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// Returns the template that yields the text, with its braces doubled.
    public static func escaped(_ text: String) -> String {
        guard text.hasByte(brace) else { return text }
        return text.unicodeScalars.reduce(into: "") { $0 += $1 == "{" ? "{{" : String($1) }
    }

    private static let brace = UInt8(ascii: "{")

    private static func place(_ text: Substring, _ braces: Braces) -> Place? {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        let name = colon.map { text[..<$0] } ?? text
        let isWord = !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
        guard braces == .places || isWord else { return nil }
        return Place(name: String(name), form: colon.map { String(text[text.utf8.index(after: $0)...]) })
    }
}
