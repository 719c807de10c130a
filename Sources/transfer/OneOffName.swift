import TransferCore

/// The name of a batch that `transfer get` or `put` made, taken apart: `get https://a.example/x +2 #0f1e2d in /home/me`.
struct OneOffName {
    private let verb: String
    /// Its first URL or list.
    private let first: String
    /// What tells it from others of the same first one.
    private let mark: String?

    /// - Returns: `nil` for the name of another batch.
    init?(_ name: String) {
        guard let verb = ["get", "put"].first(where: { name.hasPrefix($0 + " ") }),
            let end = name.ranges(of: " in /").last?.lowerBound
        else { return nil }
        let words = name[..<end].split(separator: " ").dropFirst()
        guard let first = words.first else { return nil }
        self.verb = verb
        self.first = String(first)
        mark = words.last.flatMap { $0.hasPrefix("#") && words.count > 1 ? String($0.dropFirst()) : nil }
    }

    /// From the shortest on: `get-a.example`, `get-a.example-x`, `get-a.example-0f1e2d`.
    var forms: [String] {
        var forms: [String] = []
        let file = first.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init) ?? first
        if first == "-" {
            forms.append("\(verb)-stdin")
        } else if let host = Origin(anyURL: first)?.hostAndPort {
            forms.append("\(verb)-\(host)")
            if !host.hasPrefix(file) { forms.append("\(verb)-\(host)-\(file)") }
        } else {
            forms.append("\(verb)-\(file)")
        }
        if let mark { forms += forms.prefix(1).map { "\($0)-\(mark)" } }
        // As a shell reads it without quotes.
        return forms.filter { ShellWord.quoted($0) == $0 }
    }
}
