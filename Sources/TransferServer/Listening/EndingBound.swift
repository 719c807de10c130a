import ServiceLifecycle
import Synchronization

/// The bound on the end of the service: queries that a database has not answered by then are cancelled, so that they hold
/// neither a service manager nor the next attempt.
final class EndingBound: Sendable {
    private struct State {
        var alarm: Task<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())
    private let limit: Duration
    private let cancel: @Sendable () -> Void

    /// Creates a bound.
    ///
    /// - Parameters:
    ///   - limit: The time from the request for the end until the queries are cancelled.
    ///   - cancel: The closure that cancels them. It is called once at most.
    init(_ limit: Duration = .seconds(2), cancel: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.cancel = cancel
    }

    /// Runs work. The bound begins when the work is to end.
    func run(_ work: () async throws -> Void) async rethrows {
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await work()
        } onCancelOrGracefulShutdown: {
            self.begin()
        }
    }

    /// Begins the bound, unless it has begun before.
    func begin() {
        state.withLock { state in
            guard state.alarm == nil, !state.isOver else { return }
            state.alarm = Task { [limit, cancel] in
                // A sleep with a reason: the bound is a time, and the end of the work cancels it.
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                cancel()
            }
        }
    }

    /// Ends the bound, because nothing waits any longer.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.alarm?.cancel()
        }
    }
}
