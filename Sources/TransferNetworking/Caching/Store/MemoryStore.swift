import DequeModule
import Foundation

/// Stored responses in memory. The least recently used ones are evicted first.
struct MemoryStore: Sendable {
    private struct Entry: Sendable {
        var responses: [StoredResponse]
        var cost: Int
        var storedAt: Double
        /// The number of the last use.
        var use: UInt64
    }

    /// The upper limit of the responses' total size, in bytes.
    var capacity: Int { didSet { evict() } }
    private(set) var usage = 0
    private var entries: [String: Entry] = [:]
    /// The uses in their order. A use counts only while it is the last one of its entry.
    private var uses: Deque<(key: String, use: UInt64)> = []
    private var lastUse: UInt64 = 0

    init(capacity: Int) { self.capacity = capacity }

    var isEmpty: Bool { entries.isEmpty }

    mutating func find(_ key: String) -> [StoredResponse]? {
        guard let responses = entries[key]?.responses else { return nil }
        touch(key)
        return responses
    }

    /// - Returns: The responses, without counting this as a use.
    func peek(_ key: String) -> [StoredResponse]? { entries[key]?.responses }

    mutating func put(_ responses: [StoredResponse], of key: String, at now: Double) {
        remove(key)
        let cost = responses.reduce(0) { $0 + $1.cost }
        guard cost > 0, cost <= capacity else { return }
        entries[key] = Entry(responses: responses, cost: cost, storedAt: now, use: 0)
        usage += cost
        touch(key)
        evict()
    }

    mutating func remove(_ key: String) {
        if let entry = entries.removeValue(forKey: key) { usage -= entry.cost }
    }

    /// Drops the responses that were stored at that moment or later.
    mutating func removeAll(since moment: Double = -.infinity) {
        for (key, entry) in entries where entry.storedAt >= moment { remove(key) }
        if entries.isEmpty { uses = [] }
    }

    private mutating func touch(_ key: String) {
        lastUse += 1
        entries[key]?.use = lastUse
        uses.append((key, lastUse))
        // Outdated uses accumulate where few entries are used often.
        if uses.count > 4 * entries.count + 64 { uses.removeAll { entries[$0.key]?.use != $0.use } }
    }

    private mutating func evict() {
        while usage > capacity, let oldest = uses.popFirst() {
            if entries[oldest.key]?.use == oldest.use { remove(oldest.key) }
        }
    }
}
