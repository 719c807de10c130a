/// The bytes that come between two checkpoints of a partial file.
///
/// A kill loses nothing where the life of the file system has a name (``MountInstance``): there a checkpoint is for a loss
/// of power alone. Elsewhere (overlay, FUSE, network file systems) only durable bytes count after a kill, so that
/// checkpoints come sooner: a kill loses at most half of the bytes, or what came since the first checkpoint was due.
enum CheckpointDistance {
    static let longest: Int64 = 64 << 20
    static let shortest: Int64 = 8 << 20

    /// - Parameters:
    ///   - durable: Bytes that the checkpoints before have made durable.
    ///   - outlivesKills: Whether bytes that were written and not synced are there after the end of their process.
    static func after(_ durable: Int64, outlivesKills: Bool) -> Int64 {
        outlivesKills ? longest : min(longest, max(shortest, durable))
    }
}
