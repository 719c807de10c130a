import TransferCore

/// The name of a batch that `transfer get`, `put` or `copy` made, taken apart: `get https://a.example/x +2 #0f1e2d in /home/me`.
struct OneOffName {
    private let verb: String
    /// Its first URL or list.
    private let first: String
    /// What tells it from others of the same first one.
    private let mark: String?

    /// - Returns: `nil` for the name of another batch.
    init?(_ name: String) {
        guard let verb = Self.verbs.first(where: { name.hasPrefix($0 + " ") }),
            let end = name.ranges(of: " in /").last?.lowerBound
        else { return nil }
        let words = name[..<end].split(separator: " ").dropFirst()
        guard let first = words.first else { return nil }
        self.verb = verb
        self.first = String(first)
        mark = words.last.flatMap { $0.hasPrefix("#") && words.count > 1 ? String($0.dropFirst()) : nil }
    }

    private static let verbs = ["get", "put", "copy"]

    /// `get-a.example`, `get-list.txt`: that of all which begin with the same server or list.
    private var stem: String {
        first == "-" ? "\(verb)-stdin" : "\(verb)-\(Origin(anyURL: first)?.hostAndPort ?? file)"
    }

    private var file: String {
        first.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init) ?? first
    }

    /// `get-a.example-3`: what the batch of that number is called, now and later, whatever other batches come and go.
    ///
    /// `get-3` where a shell wants quotes for the server's or the list's name.
    func lasting(_ number: Int64) -> String { Self.plain("\(stem)-\(number)") ?? "\(verb)-\(number)" }

    /// Others that people may type, from the shortest on: `get-a.example`, `get-a.example-x`, `get-a.example-0f1e2d`.
    var forms: [String] {
        var forms = [stem]
        if let host = Origin(anyURL: first)?.hostAndPort, !host.hasPrefix(file) { forms.append("\(stem)-\(file)") }
        if let mark { forms.append("\(stem)-\(mark)") }
        return forms.compactMap(Self.plain).filter { Self.number(of: $0) == nil }
    }

    /// As a shell reads it without quotes.
    private static func plain(_ form: String) -> String? { ShellWord.quoted(form) == form ? form : nil }

    /// Of what looks like ``lasting(_:)``: the number. It never means a batch of another one.
    static func number(of text: String) -> Int64? {
        guard verbs.contains(where: { text.hasPrefix($0 + "-") }) else { return nil }
        let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, text.dropLast(digits.count).hasSuffix("-") else { return nil }
        return Int64(String(digits.reversed()))
    }

    /// Whether it's what a batch of `get` or `put` may be called.
    static func isLike(_ text: String) -> Bool {
        OneOffName(text) != nil || verbs.contains { text.hasPrefix($0 + "-") && text.count > $0.count + 1 }
    }
}
