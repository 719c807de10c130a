import Logging
import Synchronization
import TransferQueue

/// The delay of responses to wrong secrets. Each further one is delayed for longer, and guessing is reported in the
/// log.
///
/// The delay is that of wrong secrets alone, so that a client with the right one never notices.
final class WrongSecrets: Sendable {
    private struct State {
        /// The wrong secrets of late; one is forgotten each second.
        var recent = 0.0
        var last = ContinuousClock.now
        var reported: ContinuousClock.Instant?
        /// The number since the last report.
        var count = 0
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// The number of wrong secrets that are answered without a delay, since a person may mistype one.
    private static let free = 3.0
    private static let longest = Duration.seconds(4)
    private static let reportPause = Duration.seconds(60)

    /// Waits before the response to a wrong secret.
    func delay() async {
        let (pause, count) = note(at: .now)
        if let count {
            logger.warning("refused \(CountText.words(count, "request")) with a wrong secret")
        }
        guard pause > .zero else { return }
        // A sleep with a reason: the delay itself is the purpose, as it slows guesses down. Every response is delayed:
        // the number of connections bounds how many wait.
        try? await Task.sleep(for: pause)
    }

    /// Notes a wrong secret.
    ///
    /// - Returns: The delay of its response, and the number to report; `nil` where the last report is recent.
    func note(at now: ContinuousClock.Instant) -> (pause: Duration, report: Int?) {
        state.withLock { state in
            let passed = Double((now - state.last).components.seconds)
            if passed >= 1 {
                state.recent = max(0, state.recent - passed)
                state.last = now
            }
            state.recent = min(state.recent + 1, 1000)
            state.count += 1
            let excess = state.recent - Self.free
            let pause = excess <= 0 ? .zero : min(Self.longest, .milliseconds(125 * (1 << Int(min(excess, 5)))))
            if let reported = state.reported, now - reported < Self.reportPause { return (pause, nil) }
            state.reported = now
            defer { state.count = 0 }
            return (pause, state.count)
        }
    }
}
