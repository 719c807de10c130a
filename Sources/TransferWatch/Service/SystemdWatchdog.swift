import TransferCore
public import TransferEventLoop

/// Signs of life to the service's manager that show that the loop runs. They come from the loop itself, so that they
/// stop if it hangs.
///
/// `@unchecked Sendable`: `timer` is used only on the loop.
public final class SystemdWatchdog: @unchecked Sendable {
    private let loop: EventLoop
    private let notify: SystemdNotify
    private let interval: Duration
    private var timer: LoopTimer?

    /// Starts with a first sign of life.
    ///
    /// - Returns: `nil` if the manager does not ask for any.
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

    /// Ends the signs of life.
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
