import Synchronization

/// Bounds how much of an answer has arrived and not been taken: beyond that nothing more is read from the network.
final class FlowWindow: Sendable {
    /// Bytes.
    static let high = 512 << 10
    static let low = 256 << 10

    private struct State {
        var outstanding = 0
        var isFull = false
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { !$0.isFull } }

    /// A piece arrived; it counts until nobody holds it any more.
    ///
    /// - Parameter whenOpen: Called when there is room again after the window was full.
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

/// A piece of an answer that somebody still has to take.
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
