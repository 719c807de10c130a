/// The connections that jobs under way have besides their first one, by origin.
package struct ConnectionsBeside: Sendable {
    private var counts: [String: Int] = [:]
    package private(set) var total = 0

    package func count(to origin: String) -> Int { counts.isEmpty ? 0 : counts[origin] ?? 0 }

    mutating func opened(to origin: String) {
        counts[origin, default: 0] += 1
        total += 1
    }

    mutating func closed(to origin: String) {
        guard let count = counts[origin] else { return }
        counts[origin] = count > 1 ? count - 1 : nil
        total -= 1
    }
}
