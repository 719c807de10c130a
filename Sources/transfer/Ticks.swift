import TransferCore
import TransferEventLoop

/// A sequence of regular ticks, from a timer of a loop.
enum Ticks {
    static func every(_ interval: Duration, on loop: EventLoop) -> AsyncStream<Void> {
        AsyncStream { continuation in
            loop.execute {
                let timer = Beat(loop, interval) { continuation.yield() }
                timer.start()
            }
        }
    }

    /// The timer of a sequence, used on its loop only.
    private final class Beat {
        private let loop: EventLoop
        private let interval: Duration
        private let action: () -> Void
        private var timer: LoopTimer?

        init(_ loop: EventLoop, _ interval: Duration, _ action: @escaping () -> Void) {
            self.loop = loop
            self.interval = interval
            self.action = action
        }

        /// Starts the timer. Its action retains this object, and the loop retains the timer.
        func start() {
            timer = loop.makeTimer { self.fire() }
            timer?.schedule(at: .now + interval)
        }

        private func fire() {
            action()
            timer?.schedule(at: .now + interval)
        }
    }
}
