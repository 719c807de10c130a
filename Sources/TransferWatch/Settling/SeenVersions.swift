import TransferCore

/// The versions that the consumer has handled, so that polling offers it only new ones.
///
/// Each takes eight bytes and stores no name: a hash with a seed of this process. With a million files, a new file has
/// a chance of one in 10¹³ to be ignored until the next start. Files that are not found again are forgotten after one
/// pass.
struct SeenVersions: Sendable {
    private var before: Set<Int> = []
    private var now: Set<Int> = []
    private let capacity: Int

    /// Creates an empty set.
    ///
    /// - Parameter capacity: The most versions; further ones are offered at each pass.
    init(capacity: Int = 2_000_000) { self.capacity = capacity }

    var count: Int { before.count + now.count }

    /// Starts a pass over the folders.
    mutating func beginPass() {
        before = now
        now = []
    }

    /// Returns whether the version was handled; if so, it is kept for one more pass.
    mutating func contains(_ version: FileVersion) -> Bool {
        let hash = Self.hash(version)
        if now.contains(hash) { return true }
        guard before.contains(hash) else { return false }
        insert(hash)
        return true
    }

    mutating func insert(_ version: FileVersion) { insert(Self.hash(version)) }

    /// Returns the hash of a version, which includes the time of the inode's change: the content may have changed while
    /// the other time was restored.
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
