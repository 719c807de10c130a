import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The runner, as far as every part may ask something of it.
///
/// A part that does asynchronous work is a class in the runner's isolation. It has a protocol of its own that refines
/// this one and names all that it needs of the others; each of its entries is given the host as an isolated parameter, so
/// that calls both ways are plain calls. Answers from workers, the store and the engine come back by the host's
/// ``LoopActor/onLoop(_:)``.
protocol PartHost: LoopActor {
    /// Does `work` on the store's thread and comes back with the result.
    func withStore<Value: Sendable>(
        _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
        then: @escaping @Sendable (isolated Self, Value) -> Void)
    /// Starts what may start now, at the end of this turn of the loop.
    func pump()
    /// - Parameter route: Of an end whose kind doesn't have it.
    func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?, route: JobRoute?)
    /// Tells of the change of a metric; it's made only where somebody listens.
    func measure(_ measurement: @autoclosure () -> Measurement)
    func timer(_ which: RunTimer) -> LoopTimer
}

extension PartHost {
    func emit(_ batch: Int64, _ kind: QueueEvent.Kind) { emit(batch, kind, cursor: nil, route: nil) }

    /// Has something written down that nobody waits for.
    func note(_ notes: [JobNote]) {
        withStore {
            try $0.note(notes)
        } then: { _, _ in
        }
    }

    /// Has something told to other processes.
    func publish(_ news: RunNotification) {
        withStore {
            try $0.publish(news)
        } then: { _, _ in
        }
    }
}
