import Synchronization

/// A limit for the part of a response that has arrived and has not been taken. Beyond it nothing more is read from the
/// network.
final class FlowWindow: Sendable {
    /// The size at which reading stops; it resumes at `low`. Both are in bytes.
    static let high = 512 << 10
    static let low = 256 << 10

    private struct State {
        var outstanding = 0
        var isFull = false
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { !$0.isFull } }

    /// Counts a piece that arrived, until its token is released.
    ///
    /// - Parameter whenOpen: A closure called when a full window has space again.
    func admit(_ count: Int, whenOpen: @escaping @Sendable () -> Void) -> FlowToken {
        state.withLock { state in
            state.outstanding += count
            if state.outstanding >= Self.high { state.isFull = true }
        }
        return FlowToken(count: count, window: self, whenOpen: whenOpen)
    }

    fileprivate func release(_ count: Int) -> Bool {
        state.withLock { state in
            state.outstanding -= count
            guard state.isFull, state.outstanding <= Self.low else { return false }
            state.isFull = false
            return true
        }
    }
}

/// The token of a piece that has not been taken yet.
final class FlowToken: Sendable {
    private let count: Int
    private let window: FlowWindow
    private let whenOpen: @Sendable () -> Void

    fileprivate init(count: Int, window: FlowWindow, whenOpen: @escaping @Sendable () -> Void) {
        self.count = count
        self.window = window
        self.whenOpen = whenOpen
    }

    deinit { if window.release(count) { whenOpen() } }
}
