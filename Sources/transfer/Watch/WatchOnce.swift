import Synchronization
import TransferQueue

/// The end of a watch that takes a folder once: all that was found is recorded, no upload waits, and what becomes of
/// confirmed files was done. A file that somebody has open for writing is waited for where the watch has a deadline; else
/// it is left, and the watch isn't a success.
final class WatchOnce: Sendable {
    private struct State {
        var hasCaughtUp = false
        var waiting = 0
        /// Confirmed files that are to be moved or deleted.
        var unsettled = 0
        /// Files that somebody has open for writing.
        var unfinished = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let settlesFiles: Bool

    private let waitsForWriters: Bool

    /// - Parameters:
    ///   - spec: Files that are kept for a while aren't waited for.
    ///   - waitsForWriters: Whether the end of a file that is being written is waited for.
    init(_ spec: WatchSpec, waitsForWriters: Bool) {
        settlesFiles = spec.then != .keep && spec.keepFor == nil
        self.waitsForWriters = waitsForWriters
    }

    var isOver: Bool { state.withLock(\.isOver) }

    /// Whether a file is left that somebody has open for writing.
    var leavesFiles: Bool { state.withLock { $0.unfinished > 0 } }

    /// - Returns: Whether the end is here; once.
    func isOver(after event: WatchedFolderEvent) -> Bool {
        state.withLock { state in
            switch event {
            case .watch(.caughtUp(let summary)): (state.hasCaughtUp, state.unfinished) = (true, summary.unfinished)
            // A file has changed while it was on its way, and is looked at again.
            case .holdsMore(true): state.hasCaughtUp = false
            case .backlog(let waiting, _): state.waiting = waiting
            case .confirmed: if settlesFiles { state.unsettled += 1 }
            case .moved, .deleted, .stays: state.unsettled = max(0, state.unsettled - 1)
            default: break
            }
            guard !state.isOver, state.hasCaughtUp, state.waiting == 0, state.unsettled == 0,
                state.unfinished == 0 || !waitsForWriters
            else { return false }
            state.isOver = true
            return true
        }
    }
}
