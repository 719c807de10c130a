/// The number of bytes between two checkpoints of a partial file.
///
/// A kill loses nothing if the current mount of the file system can be identified (``MountInstance``). Checkpoints only
/// serve against a loss of power then. Elsewhere (overlay, FUSE, network file systems) only durable bytes count after a
/// kill, so checkpoints come sooner. A kill loses at most half of the bytes, or those since the first checkpoint was
/// due.
enum CheckpointDistance {
    static let longest: Int64 = 64 << 20
    static let shortest: Int64 = 8 << 20

    /// - Parameters:
    ///   - durable: The number of bytes that earlier checkpoints have made durable.
    ///   - outlivesKills: Whether written bytes that are not synced outlive their process.
    static func after(_ durable: Int64, outlivesKills: Bool) -> Int64 {
        outlivesKills ? longest : min(longest, max(shortest, durable))
    }
}
