import Synchronization
import TransferQueue

/// The end of a watch that takes a folder once: all that was found is recorded, no upload waits, and what becomes of
/// confirmed files was done.
final class WatchOnce: Sendable {
    private struct State {
        var hasCaughtUp = false
        var waiting = 0
        /// Confirmed files that are to be moved or deleted.
        var unsettled = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let settlesFiles: Bool

    /// - Parameter spec: Files that are kept for a while aren't waited for.
    init(_ spec: WatchSpec) { settlesFiles = spec.then != .keep && spec.keepFor == nil }

    var isOver: Bool { state.withLock(\.isOver) }

    /// - Returns: Whether the end is here; once.
    func isOver(after event: WatchedFolderEvent) -> Bool {
        state.withLock { state in
            switch event {
            case .watch(.caughtUp): state.hasCaughtUp = true
            case .backlog(let waiting, _): state.waiting = waiting
            case .confirmed: if settlesFiles { state.unsettled += 1 }
            case .moved, .deleted, .stays: state.unsettled = max(0, state.unsettled - 1)
            default: break
            }
            guard !state.isOver, state.hasCaughtUp, state.waiting == 0, state.unsettled == 0 else { return false }
            state.isOver = true
            return true
        }
    }
}
