/// Text with places in braces for what differs from one use to the next, such as `{name}` and `{n:04}`; `{{` is a brace.
public struct TemplateText: Sendable, Hashable {
    public enum Part: Sendable, Hashable {
        case text(String)
        case place(Place)
    }

    /// The contents of a pair of braces.
    public struct Place: Sendable, Hashable {
        public var name: String
        /// The text behind a colon.
        public var form: String?

        /// As it's written, without the braces.
        public var text: String { form.map { "\(name):\($0)" } ?? name }
    }

    /// Braces that may be text.
    public enum Braces: Sendable, Hashable {
        /// Each opens a place.
        case places
        /// Braces that hold a word of Latin letters, perhaps with a colon behind it, open a place; others are text, as they
        /// may be part of a name: `{1}`, `{}`, `{`.
        case words
    }

    /// A brace isn't closed.
    public struct OpenBrace: Error, Sendable, Hashable {}

    public let parts: [Part]

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

    /// The text as a template that gives it again: with braces doubled.
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
