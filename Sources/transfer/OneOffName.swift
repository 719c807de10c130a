import TransferCore

/// The parsed name of a batch of `transfer get`, `put` or `copy`: `get https://a.example/x +2 #0f1e2d in /home/me`.
struct OneOffName {
    private let verb: String
    /// The batch's first URL or list.
    private let first: String
    /// The part that distinguishes it from others with the same first URL.
    private let mark: String?

    /// Parses a name.
    ///
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

    /// The common form of all batches that begin with the same server or list: `get-a.example`, `get-list.txt`.
    private var stem: String {
        first == "-" ? "\(verb)-stdin" : "\(verb)-\(Origin(anyURL: first)?.hostAndPort ?? file)"
    }

    private var file: String {
        first.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init) ?? first
    }

    /// Returns the permanent name of the batch with that number, regardless of later batches: `get-a.example-3`.
    ///
    /// The name is `get-3` where the name of the server or list needs quotes in a shell.
    func lasting(_ number: Int64) -> String { Self.plain("\(stem)-\(number)") ?? "\(verb)-\(number)" }

    /// The other forms that people may type, the shortest first: `get-a.example`, `get-a.example-x`,
    /// `get-a.example-0f1e2d`.
    var forms: [String] {
        var forms = [stem]
        if let host = Origin(anyURL: first)?.hostAndPort, !host.hasPrefix(file) { forms.append("\(stem)-\(file)") }
        if let mark { forms.append("\(stem)-\(mark)") }
        return forms.compactMap(Self.plain).filter { Self.number(of: $0) == nil }
    }

    /// Returns the form if a shell reads it without quotes.
    private static func plain(_ form: String) -> String? { ShellWord.quoted(form) == form ? form : nil }

    /// Returns the number in a text of the form of ``lasting(_:)``. It never means a batch with another number.
    static func number(of text: String) -> Int64? {
        guard verbs.contains(where: { text.hasPrefix($0 + "-") }) else { return nil }
        let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, text.dropLast(digits.count).hasSuffix("-") else { return nil }
        return Int64(String(digits.reversed()))
    }

    /// Returns whether a text may name a batch of `get` or `put`.
    static func isLike(_ text: String) -> Bool {
        OneOffName(text) != nil || verbs.contains { text.hasPrefix($0 + "-") && text.count > $0.count + 1 }
    }
}
