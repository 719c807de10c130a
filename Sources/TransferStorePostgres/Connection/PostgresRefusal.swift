import TransferCore

/// The reason why one server did not accept a connection.
package struct PostgresRefusal: Error, Sendable, Hashable {
    /// The reason in words.
    package let words: String
    /// The error's code; `nil` where the server did not answer, or libpq itself failed.
    package let code: String?

    package init(words: String, code: String? = nil) {
        self.words = words
        self.code = code
    }

    /// Reads a message of libpq in its verbose form (PostgreSQL's manual, PQsetErrorVerbosity).
    ///
    /// A code precedes the server's words. The place in the server's source follows them. The severity may be in any
    /// language.
    ///
    /// - Parameter message: The message, on one line, with its lines separated by semicolons.
    package init(verbose message: String) {
        let parts = message.split(separator: "; ").filter { !$0.hasPrefix("LOCATION:") }
        let text = parts.joined(separator: "; ")
        for mark in text.ranges(ofMark: ":  ") {
            let rest = text[mark.upperBound...]
            let code = rest.prefix(5)
            guard code.count == 5, code.allSatisfy(Self.isOfCode), rest.dropFirst(5).hasPrefix(": ") else { continue }
            self.init(
                words: text[..<mark.lowerBound] + ": " + String(rest.dropFirst(7)), code: String(code))
            return
        }
        self.init(words: text)
    }

    private static func isOfCode(_ character: Character) -> Bool {
        character.isASCII && (character.isNumber || character.isUppercase)
    }

    /// Whether the configuration has to be changed before another attempt can succeed.
    var isLasting: Bool {
        code.map {
            $0 == PostgresFault.noDatabase || $0 == PostgresFault.noPrivilege
                || PostgresFault.refusedLogins.contains($0)
        }
            ?? false
    }

    /// Returns the error for a queue none of whose servers accepted the connection. It passes unless all of them refuse
    /// for good.
    static func error(_ refusals: [PostgresRefusal], _ address: PostgresAddress) -> TransferError {
        let words = refusals.map(\.words).joined(separator: "; ")
        if let code = refusals.last?.code, refusals.allSatisfy(\.isLasting) {
            return PostgresFault(code: code, message: words).explained(address)
        }
        return TransferError(.cannotConnect, "cannot reach the queue \(address.shown): \(words)", isTransient: true)
    }
}

extension String {
    /// Returns the places of a text, in their order.
    fileprivate func ranges(ofMark mark: String) -> [Range<Index>] {
        var (found, start): ([Range<Index>], Index) = ([], startIndex)
        while let place = self[start...].indices.first(where: { self[$0...].hasPrefix(mark) }) {
            let end = index(place, offsetBy: mark.count)
            found.append(place..<end)
            start = end
        }
        return found
    }
}
