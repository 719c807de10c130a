/// Detours of an attempt from its straight way: to ask again, send a part again, begin anew.
///
/// No detour is given back within the attempt, whatever the server counts meanwhile: a server that takes a byte of
/// every request would otherwise be sent the rest for each of them. A detour too many ends the attempt as one that may
/// succeed later: its owner's retry rule has the delays, and the limit.
struct Detours: Sendable, Hashable {
    private var left: Int
    private var bodiesLeft: Int

    /// - Parameters:
    ///   - most: So many may be made.
    ///   - bodies: So many of them may send nearly the same body once more.
    init(most: Int = 5, bodies: Int = 1) {
        left = most
        bodiesLeft = bodies
    }

    /// - Returns: Whether another one may be made.
    mutating func take() -> Bool {
        left -= 1
        return left >= 0
    }

    /// - Returns: Whether another one may be made that sends nearly the same body.
    mutating func takeBody() -> Bool {
        bodiesLeft -= 1
        return bodiesLeft >= 0 && take()
    }

    /// An answer that counts less of a body than it was sent, and so little that the next body is nearly the same again.
    static func isSmall(_ progress: Int64, of sent: Int64) -> Bool {
        progress < sent && progress < min(1 << 20, sent / 8 + 1)
    }
}
