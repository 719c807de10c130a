/// Counts with their nouns. All plurals are made here, so that no message says "1 jobs".
package enum CountText {
    /// Returns a count with its noun: `1 error`, `2 errors`, `0 errors`.
    ///
    /// - Parameter plural: The plural, where it is not the noun with an s.
    package static func words(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns a byte count: `1 byte`, `2 bytes`.
    package static func bytes(_ count: some BinaryInteger) -> String { words(count, "byte") }
}
