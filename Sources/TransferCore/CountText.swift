/// Counts in words. Nothing else makes a plural, so that nobody reads "1 jobs".
package enum CountText {
    /// `1 error`, `2 errors`, `0 errors`.
    ///
    /// - Parameter plural: Where it isn't the noun and an s.
    package static func words(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// `1 byte`, `2 bytes`.
    package static func bytes(_ count: some BinaryInteger) -> String { words(count, "byte") }
}
