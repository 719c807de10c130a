import TransferCore
public import TransferEventLoop

/// Tells the service's manager that the loop runs: from the loop itself, so that it's silent when that doesn't.
///
/// `@unchecked Sendable`: `timer` is touched on the loop only.
public final class SystemdWatchdog: @unchecked Sendable {
    private let loop: EventLoop
    private let notify: SystemdNotify
    private let interval: Duration
    private var timer: LoopTimer?

    /// Begins with a first sign of life.
    ///
    /// - Returns: `nil` when the manager doesn't ask for any.
    public init?(_ notify: SystemdNotify, loop: EventLoop) {
        guard let interval = notify.watchdogInterval else { return nil }
        self.loop = loop
        self.notify = notify
        self.interval = interval
        loop.execute { [self] in
            timer = loop.makeTimer { [weak self] in self?.tell() }
            tell()
        }
    }

    /// Ends it.
    public func stop() {
        loop.execute { [self] in
            if let timer { loop.remove(timer) }
            timer = nil
        }
    }

    private func tell() {
        notify.send(.watchdog)
        timer?.schedule(at: .now + interval)
    }
}
