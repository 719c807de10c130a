import Synchronization

/// The pieces of a stream that handlers are still processing. The end of the stream waits for them, so that a handler's
/// cancellation or error is in time.
final class HandlerQueue: Sendable {
    private struct State {
        var underWay = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Begins the turn of a piece, which lasts until its last reference is released.
    func begin() -> HandlerTurn {
        state.withLock { $0.underWay += 1 }
        return HandlerTurn(self)
    }

    /// Runs the action as soon as no handler has a piece, on the thread of the last handler.
    ///
    /// - Returns: Whether no handler has a piece; the action does not run then.
    func isIdle(orElse action: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.underWay > 0 else { return true }
            state.waiting.append(action)
            return false
        }
    }

    fileprivate func end() {
        let actions = state.withLock { state -> [@Sendable () -> Void] in
            state.underWay -= 1
            return state.underWay == 0 ? state.waiting.take() : []
        }
        for action in actions { action() }
    }
}

/// The turn of one piece, while handlers process it.
final class HandlerTurn: Sendable {
    private let turns: HandlerQueue

    fileprivate init(_ turns: HandlerQueue) { self.turns = turns }

    deinit { turns.end() }
}
