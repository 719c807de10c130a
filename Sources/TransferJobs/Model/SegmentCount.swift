/// How many connections one file may get.
public enum SegmentCount: Sendable, Hashable {
    /// As many as pay: their number grows while a file comes faster for it, and shrinks where the server refuses.
    case automatic
    /// That many, from 1 to 32, as far as the limit for the file's host leaves room.
    case exactly(Int)

    /// Whether a file may get more than one.
    package var mayBeMany: Bool { self != .exactly(1) }
}
