import Synchronization

/// The pieces of a stream that handlers are still busy with. The end of the stream waits for them, so that whatever a
/// handler says about it (a cancellation, an error) comes in time.
final class HandlerQueue: Sendable {
    private struct State {
        var underWay = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// A piece goes to the handlers; its turn lasts until nobody holds it any more.
    func begin() -> HandlerTurn {
        state.withLock { $0.underWay += 1 }
        return HandlerTurn(self)
    }

    /// Does it as soon as no handler has a piece any more, on the thread of the last one.
    ///
    /// - Returns: Whether nothing is under way; then nothing is done.
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

/// One piece's way through the handlers.
final class HandlerTurn: Sendable {
    private let turns: HandlerQueue

    fileprivate init(_ turns: HandlerQueue) { self.turns = turns }

    deinit { turns.end() }
}
