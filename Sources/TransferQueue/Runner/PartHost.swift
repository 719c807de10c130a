import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The part of the runner that every part may use.
///
/// A part with asynchronous work is a class in the runner's isolation. Its own protocol refines this one and names all
/// that it needs of the other parts. Each of its functions gets the host as an isolated parameter, so calls in both
/// directions are plain calls. Answers from workers, the store and the engine return through the host's
/// ``LoopActor/onLoop(_:)``.
protocol PartHost: LoopActor {
    /// Does `work` on the store's thread and passes the result back.
    func withStore<Value: Sendable>(
        _ work: @escaping @Sendable (any JobStore & RunMemory) throws -> Value,
        then: @escaping @Sendable (isolated Self, Value) -> Void)
    /// Starts the jobs that may start now, at the end of this turn of the loop.
    func pump()
    /// Emits an event.
    ///
    /// - Parameter route: The job's route, for the end of a job whose kind does not carry it.
    func emit(_ batch: Int64, _ kind: QueueEvent.Kind, cursor: Int64?, route: JobRoute?)
    /// Reports a change of a metric; the value is computed only if there is an observer.
    func measure(_ measurement: @autoclosure () -> Measurement)
    func timer(_ which: RunTimer) -> LoopTimer
}

extension PartHost {
    func emit(_ batch: Int64, _ kind: QueueEvent.Kind) { emit(batch, kind, cursor: nil, route: nil) }

    /// Records notes without waiting for the result.
    func note(_ notes: [JobNote]) {
        withStore {
            try $0.note(notes)
        } then: { _, _ in
        }
    }

    /// Publishes news to other processes.
    func publish(_ news: RunNotification) {
        withStore {
            try $0.publish(news)
        } then: { _, _ in
        }
    }
}
