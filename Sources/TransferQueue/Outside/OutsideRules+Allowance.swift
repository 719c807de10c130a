public import TransferCore

extension OutsideRules {
    /// A text that does not name a credential and a server.
    public struct BadAllowance: Error {
        /// The text that was given.
        public let word: String

        /// The fault in words, to be shown after the name of an option.
        public var message: String { "\(word): it takes NAME=ORIGIN, such as cdn=https://cdn.example" }
    }

    /// Parses the servers that credentials may be shown to, in the form of ``secrets``.
    ///
    /// - Parameter words: Texts of the form `NAME=ORIGIN`.
    /// - Throws: ``BadAllowance`` for the first text of another form.
    public static func secrets(_ words: [String]) throws(BadAllowance) -> [String: Set<Origin>] {
        var allowed: [String: Set<Origin>] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex,
                let origin = Origin(anyURL: word[word.index(after: equals)...])
            else {
                throw BadAllowance(word: word)
            }
            allowed[String(word[..<equals]), default: []].insert(origin)
        }
        return allowed
    }
}
