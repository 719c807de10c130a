/// The search for the known word that a misspelt one most likely means: a key, an option or a command.
public enum NearestKey {
    /// Returns the most similar known word.
    ///
    /// - Returns: `nil` where no known word is similar enough for a suggestion.
    public static func suggestion(for key: String, among known: [String]) -> String? {
        guard key.utf8.count <= 64 else { return nil }
        let lower = key.lowercased()
        var best: (key: String, distance: Int)?
        for candidate in known {
            let distance = distance(lower, candidate.lowercased())
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(key.utf8.count, best.key.utf8.count) / 3) else { return nil }
        return best.key
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one text into the
    /// other (optimal string alignment).
    public static func distance(_ one: String, _ other: String) -> Int {
        let (a, b) = (Array(one.utf8), Array(other.utf8))
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for row in 0..<a.count {
            var current = [row + 1]
            for column in 0..<b.count {
                let replaced = last[column] + (a[row] == b[column] ? 0 : 1)
                var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[b.count]
    }
}
