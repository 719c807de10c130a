import Synchronization

/// Hands measurements that no event tells to whoever listens in this process, from whichever thread they are of.
final class MeasurementHub: Sendable {
    private struct State {
        var observers: [@Sendable ([Measurement]) -> Void] = []
    }

    private let state = Mutex(State())
    private let heard = Atomic(false)

    /// Whether somebody listens: what costs something is measured only then.
    var isHeard: Bool { heard.load(ordering: .relaxed) }

    /// - Parameter observer: Called at once for each change: it has to be quick.
    func add(_ observer: @escaping @Sendable ([Measurement]) -> Void) {
        state.withLock { $0.observers.append(observer) }
        heard.store(true, ordering: .relaxed)
    }

    func send(_ measurements: [Measurement]) {
        for observer in state.withLock({ $0.observers }) { observer(measurements) }
    }

    func send(_ measurement: @autoclosure () -> Measurement) {
        if isHeard { send([measurement()]) }
    }
}
