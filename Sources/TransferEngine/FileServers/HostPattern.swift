/// A pattern of servers' names, with `*` for any characters and `?` for one (ssh_config(5), PATTERNS).
package struct HostPattern: Sendable, Hashable {
    /// Whether a matching server is excluded from the line, regardless of other matches.
    package let isNegated: Bool
    private let pattern: [UInt8]

    package init(_ text: ArraySlice<UInt8>) {
        isNegated = text.first == UInt8(ascii: "!")
        pattern = text.dropFirst(isNegated ? 1 : 0).map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    /// Returns whether the name matches. The number of steps is at most the product of both lengths.
    package func matches(_ name: [UInt8]) -> Bool {
        var (place, letter) = (0, 0)
        var star: (place: Int, letter: Int)?
        while letter < name.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, letter)
                place += 1
            } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == name[letter] {
                place += 1
                letter += 1
            } else if let last = star {
                // The last star takes one more character.
                star = (last.place, last.letter + 1)
                place = last.place + 1
                letter = last.letter + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
