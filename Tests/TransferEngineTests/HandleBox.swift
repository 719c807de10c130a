import Synchronization
import TransferEngine

/// A box that gives the handle to code that needs it before `start` has returned it.
final class HandleBox: Sendable {
    private struct State {
        var handle: ExchangeHandle?
        var waiting: [@Sendable (ExchangeHandle) -> Void] = []
    }
    private let state = Mutex(State())

    func set(_ handle: ExchangeHandle) {
        let waiting = state.withLock { state in
            state.handle = handle
            return exchange(&state.waiting, with: [])
        }
        for action in waiting { action(handle) }
    }

    func onHandle(_ action: @escaping @Sendable (ExchangeHandle) -> Void) {
        let handle = state.withLock { state in
            if state.handle == nil { state.waiting.append(action) }
            return state.handle
        }
        if let handle { action(handle) }
    }
}
