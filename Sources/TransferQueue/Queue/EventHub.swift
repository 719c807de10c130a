import Synchronization
import TransferJobs

/// Hands events to whoever listens in this process.
final class EventHub: Sendable {
    private struct State {
        /// In no order that they could rely on.
        var observers: [(number: Int, observe: @Sendable (QueueEvent) -> Void)] = []
        var signals: [(number: Int, ring: @Sendable () -> Void)] = []
        var last = 0
    }

    private let state = Mutex(State())
    /// What is measured besides.
    let measurements = MeasurementHub()

    /// - Parameter observer: Called in the order of the events, from the queue's own thread: it has to be quick.
    @discardableResult
    func add(_ observer: @escaping @Sendable (QueueEvent) -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.observers.append((state.last, observer))
            return state.last
        }
    }

    /// - Parameter ring: Called when something has changed that no event of this process tells.
    func addSignal(_ ring: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.signals.append((state.last, ring))
            return state.last
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.observers.removeAll { $0.number == number }
            state.signals.removeAll { $0.number == number }
        }
    }

    var isHeard: Bool { state.withLock { !$0.observers.isEmpty } }

    func send(_ event: QueueEvent) {
        // Called outside the lock: an observer may remove itself.
        for observer in state.withLock({ $0.observers }) { observer.observe(event) }
    }

    /// Something has changed that no event of this process tells: another process wrote to the database, or a run began.
    func ring() {
        for signal in state.withLock({ $0.signals }) { signal.ring() }
    }
}
