import TransferCore

/// An option of curl, with its meaning in a list.
package struct CurlOption: Sendable {
    package var name: String
    package var letter: Character?
    package var takesValue: Bool
    package var meaning: Meaning

    package enum Meaning: Sendable {
        /// An option that applies to all transfers up to the next `next`.
        case common(ListMeaning)
        /// An option that belongs to one transfer, or depends on its kind.
        case part(Part)
    }

    /// The parts of a transfer of curl.
    package enum Part: Sendable {
        case url, output, remoteName, remoteNames, outputFolder, upload, next
        case user, globOff, query, createFolders
        case data, rawData, encodedData, json
        case form, formText
    }

    /// Creates an option.
    ///
    /// - Parameter names: The long name, followed by its letter if it has one, as in `output o`.
    package init(_ names: String, takesValue: Bool, _ meaning: Meaning) {
        let words = names.split(separator: " ")
        name = String(words[0])
        letter = words.count > 1 ? words[1].first : nil
        self.takesValue = takesValue
        self.meaning = meaning
    }

    /// Returns the option with a long name.
    ///
    /// - Parameter name: A long name without its dashes.
    package static func named(_ name: String) -> CurlOption? { byName[name] }

    package static func lettered(_ letter: Character) -> CurlOption? { byLetter[letter] }

    private static let byName = Dictionary(CurlOptions.all.map { ($0.name, $0) }) { first, _ in first }
    private static let byLetter: [Character: CurlOption] = {
        var letters: [Character: CurlOption] = [:]
        for option in CurlOptions.all { if let letter = option.letter { letters[letter] = option } }
        return letters
    }()

    /// Returns the name of the option that nearly matches a text.
    package static func suggestion(for name: String) -> String? {
        NearestKey.suggestion(for: name, among: CurlOptions.all.map(\.name))
    }
}
