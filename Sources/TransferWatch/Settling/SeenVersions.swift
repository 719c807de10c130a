import TransferCore

/// Versions that the consumer has dealt with, so that polling again and again asks it about new ones only.
///
/// Eight bytes each, and no names: a hash with a seed of this process. That two versions have the same one, and a new
/// file is passed over until the next start, has a chance of one in 10¹³ with a million files. What isn't found any more
/// is forgotten after one pass.
struct SeenVersions: Sendable {
    private var before: Set<Int> = []
    private var now: Set<Int> = []
    private let capacity: Int

    /// - Parameter capacity: What is beyond it is asked about each time.
    init(capacity: Int = 2_000_000) { self.capacity = capacity }

    var count: Int { before.count + now.count }

    /// A pass over the folders begins.
    mutating func beginPass() {
        before = now
        now = []
    }

    /// Whether it was dealt with; if so it's kept for one more pass.
    mutating func contains(_ version: FileVersion) -> Bool {
        let hash = Self.hash(version)
        if now.contains(hash) { return true }
        guard before.contains(hash) else { return false }
        insert(hash)
        return true
    }

    mutating func insert(_ version: FileVersion) { insert(Self.hash(version)) }

    /// The time of its last change belongs to it: other bytes may have come with the former time.
    private static func hash(_ version: FileVersion) -> Int {
        var hasher = Hasher()
        hasher.combine(version)
        hasher.combine(version.stamp.changed)
        return hasher.finalize()
    }

    private mutating func insert(_ hash: Int) {
        if now.count < capacity { now.insert(hash) }
    }
}
