import DequeModule
import Synchronization

/// A log that shows whether a URL was changed while a response was on its way. Such a response may be older than the
/// change.
final class InvalidationLog: Sendable {
    private struct State {
        var number: UInt64 = 0
        var latest: Deque<(key: String, number: UInt64)> = []
    }

    private static let limit = 64
    private let state = Mutex(State())

    /// The number of invalidations so far, used as a moment.
    var now: UInt64 { state.withLock { $0.number } }

    func note(_ keys: [String]) {
        state.withLock { state in
            for key in keys {
                state.number += 1
                state.latest.append((key, state.number))
                if state.latest.count > Self.limit { state.latest.removeFirst() }
            }
        }
    }

    /// Whether the key may have been invalidated since that moment. Invalidations that were dropped from the log count
    /// as matches.
    func mayInclude(_ key: String, since moment: UInt64) -> Bool {
        state.withLock { state in
            guard state.number > moment else { return false }
            if state.number - moment > UInt64(Self.limit) { return true }
            return state.latest.contains { $0.number > moment && $0.key == key }
        }
    }
}
