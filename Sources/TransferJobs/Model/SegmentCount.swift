/// The number of connections that one file may use.
public enum SegmentCount: Sendable, Hashable {
    /// A number that adapts: it grows while more connections make the file faster, and shrinks where the server refuses
    /// them.
    case automatic
    /// A fixed number from 1 to 32, to the extent that the limit for the file's host allows it.
    case exactly(Int)

    /// Whether a file may use more than one connection.
    package var mayBeMany: Bool { self != .exactly(1) }
}
