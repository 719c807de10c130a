/// The best numbers of connections found by files, by their servers; the next file of a server starts with its number.
package struct FoundConnections: Sendable {
    /// The time for which a number is used.
    static let lifetime = Duration.seconds(600)
    /// The maximum number of servers remembered.
    static let most = 256

    private var numbers: [String: (count: Int, time: MonotonicTime)] = [:]

    package init() {}

    package mutating func note(_ count: Int, at origin: String, now: MonotonicTime) {
        numbers[origin] = (count, now)
        guard numbers.count > Self.most else { return }
        numbers = numbers.filter { now - $0.value.time < Self.lifetime }
        if numbers.count > Self.most, let oldest = numbers.min(by: { $0.value.time < $1.value.time })?.key {
            numbers[oldest] = nil
        }
    }

    /// Returns the number for a server.
    ///
    /// - Returns: `nil` where none is known, or the known one is too old.
    package func count(at origin: String, now: MonotonicTime) -> Int? {
        guard let number = numbers[origin], now - number.time < Self.lifetime else { return nil }
        return number.count
    }
}
