import Synchronization
import TransferQueue

/// The end of a watch that takes a folder once.
///
/// The end comes when all files are recorded, no upload waits, and confirmed files were moved or deleted. A file that
/// another program has open for writing is waited for where the watch has a deadline. Otherwise the file is left, and
/// the watch is no success.
final class WatchOnce: Sendable {
    private struct State {
        var hasCaughtUp = false
        var waiting = 0
        /// The number of confirmed files that are still to be moved or deleted.
        var unsettled = 0
        /// The number of files that another program has open for writing.
        var unfinished = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let settlesFiles: Bool

    private let waitsForWriters: Bool

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - spec: The watch; files that are kept for a while are not waited for.
    ///   - waitsForWriters: Whether the end of writing is waited for.
    init(_ spec: WatchSpec, waitsForWriters: Bool) {
        settlesFiles = spec.then != .keep && spec.keepFor == nil
        self.waitsForWriters = waitsForWriters
    }

    var isOver: Bool { state.withLock(\.isOver) }

    /// Whether a file is left that another program has open for writing.
    var leavesFiles: Bool { state.withLock { $0.unfinished > 0 } }

    /// Takes an event.
    ///
    /// - Returns: Whether the watch ends now; once.
    func isOver(after event: WatchedFolderEvent) -> Bool {
        state.withLock { state in
            switch event {
            case .watch(.caughtUp(let summary)): (state.hasCaughtUp, state.unfinished) = (true, summary.unfinished)
            // A file has changed while it was sent, and is examined again.
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
