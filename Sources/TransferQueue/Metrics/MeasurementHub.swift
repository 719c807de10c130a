import Synchronization

/// A distributor of measurements that no event carries. It passes them to the observers of this process, from any
/// thread.
final class MeasurementHub: Sendable {
    private struct State {
        var observers: [@Sendable ([Measurement]) -> Void] = []
    }

    private let state = Mutex(State())
    private let heard = Atomic(false)

    /// Whether there is an observer. Costly measurements are made only then.
    var isHeard: Bool { heard.load(ordering: .relaxed) }

    /// Adds an observer.
    ///
    /// - Parameter observer: A function that is called at once for each change, so it must be fast.
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
