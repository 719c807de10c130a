import Synchronization

/// Hands events to whoever listens in this process.
final class EventHub: Sendable {
    private struct State {
        var observers: [Int: @Sendable (QueueEvent) -> Void] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// - Parameter observer: Called in the order of the events, from the queue's own thread: it has to be quick.
    func add(_ observer: @escaping @Sendable (QueueEvent) -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = observer
            return state.last
        }
    }

    func remove(_ number: Int) { state.withLock { state in state.observers[number] = nil } }

    func send(_ event: QueueEvent) {
        // Called outside the lock: an observer may remove itself.
        for observer in state.withLock({ Array($0.observers.values) }) { observer(event) }
    }
}
