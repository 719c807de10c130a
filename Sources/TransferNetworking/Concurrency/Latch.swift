import Synchronization

/// A latch that all callers pass once it has been opened.
final class Latch: Sendable {
    private enum State {
        case closed
        /// One caller waits in nearly all cases, so that the array is mostly empty.
        case awaited(CheckedContinuation<Void, Never>, others: [CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Mutex(State.closed)

    func open() {
        guard case .awaited(let first, let others) = state.withLock({ exchange(&$0, with: .open) }) else { return }
        first.resume()
        for other in others { other.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                switch state {
                case .open: return true
                case .closed: state = .awaited(continuation, others: [])
                case .awaited(let first, let others): state = .awaited(first, others: others + [continuation])
                }
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
