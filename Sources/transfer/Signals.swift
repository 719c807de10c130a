import Glibc
import Synchronization

/// The handling of SIGINT, SIGTERM and SIGHUP.
///
/// The first signal ends a run in order. The process then dies by that same signal, so that shells and systemd see the
/// true cause. A second one ends it at once. A SIGHUP counts as one of them, unless there are files to read again.
enum Signals {
    private static let ending: [Int32] = [SIGINT, SIGTERM, SIGHUP]
    private static let received = Mutex<Int32?>(nil)
    /// The reaction to the first signal; without it the process dies at once.
    private static let onFirst = Mutex<(@Sendable () -> Void)?>(nil)

    /// The reaction to SIGHUP where it does not end the process.
    private static let onHangUp = Mutex<(@Sendable () -> Void)?>(nil)

    /// Blocks the signals in the whole process, before other threads exist.
    static func prepare() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ending { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A closed output pipe is an error of write(2), and must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // A file beyond the limit of sizes is an error of write(2) too (EFBIG; setrlimit(2), RLIMIT_FSIZE).
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Calls `stop` at the first signal; dies at the second.
    static func handle(_ stop: @escaping @Sendable () -> Void) { onFirst.withLock { $0 = stop } }

    /// Makes the process die at the first signal again.
    static func dieAtFirst() { onFirst.withLock { $0 = nil } }

    /// Calls `reload` at each SIGHUP from now on, which then does not end the process.
    static func reload(_ reload: @escaping @Sendable () -> Void) { onHangUp.withLock { $0 = reload } }

    /// Calls `reload` at each SIGHUP from now on, unless another reaction is set.
    static func reloadOtherwise(_ reload: @escaping @Sendable () -> Void) {
        onHangUp.withLock { if $0 == nil { $0 = reload } }
    }

    /// Whether a signal has asked for the end.
    static var isAsked: Bool { received.withLock { $0 != nil } }

    /// Dies by the signal that ended the run, if one did.
    static func dieIfReceived() {
        if let signal = received.withLock({ $0 }) { die(by: signal) }
    }

    /// Handles the signals as they come; the main thread does that all the time.
    static func wait() -> Never {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ending { sigaddset(&set, signal) }
        while true {
            var signal: Int32 = 0
            guard sigwait(&set, &signal) == 0 else { continue }
            if signal == SIGHUP, let reload = onHangUp.withLock({ $0 }) {
                reload()
                continue
            }
            let isFirst = received.withLock { received in
                defer { received = signal }
                return received == nil
            }
            guard isFirst, let stop = onFirst.withLock({ $0 }) else { die(by: signal) }
            stop()
        }
    }

    private static func die(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        // The signal is sent to this thread: another thread that waits for signals of the process would take it.
        pthread_kill(pthread_self(), number)
        // Only a debugger that swallows the signal lets the process reach this line.
        exit(128 + number)
    }
}
