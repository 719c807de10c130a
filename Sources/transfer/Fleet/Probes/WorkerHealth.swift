import Synchronization
import TransferCore

/// Whether a worker can work, for its probes.
final class WorkerHealth: Sendable {
    private enum State {
        case opening
        case working
        case away(String)
    }

    private let state = Mutex(State.opening)

    /// Why the worker cannot work; `nil` where it can.
    var trouble: String? {
        state.withLock { state in
            switch state {
            case .working: nil
            case .opening: "the worker has no connection to the queue's database yet"
            case .away(let reason): "the queue's database is away: \(reason)"
            }
        }
    }

    /// Notes that the worker has the queue.
    func began() { state.withLock { $0 = .working } }

    /// Notes whether the database is available.
    ///
    /// - Parameter error: Why it is not; `nil` when it is.
    func database(isAway error: TransferError?) { state.withLock { $0 = error.map { .away($0.message) } ?? .working } }
}
