public import TransferCore

extension OutsideRules {
    /// A word that doesn't name a credential and a server.
    public struct BadAllowance: Error {
        public let word: String

        /// The fault in words, for after the name of an option.
        public var message: String { "\(word): it takes NAME=ORIGIN, such as cdn=https://cdn.example" }
    }

    /// The servers that credentials may be shown to, as ``secrets`` has them.
    ///
    /// - Parameter words: `NAME=ORIGIN` each.
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
