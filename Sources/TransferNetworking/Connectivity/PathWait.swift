import Dispatch
import Foundation
import Synchronization
import TransferReachability

/// One wait for a path to the network; the wait holds its monitor until the end.
final class PathWait: Sendable {
    private let monitor: NWPathMonitor
    private let done: Mutex<(@Sendable (Bool) -> Void)?>

    private init(_ monitor: NWPathMonitor, _ done: @escaping @Sendable (Bool) -> Void) {
        self.monitor = monitor
        self.done = Mutex(done)
    }

    /// Calls `done` once on `queue`: with `true` as soon as there is a path, with `false` when there was none within
    /// the limit.
    ///
    /// - Parameter limit: The longest wait, in seconds.
    static func begin(
        _ monitor: NWPathMonitor, within limit: TimeInterval, on queue: DispatchQueue,
        _ done: @escaping @Sendable (Bool) -> Void
    ) {
        let wait = PathWait(monitor, done)
        monitor.pathUpdateHandler = { path in if path.status == .satisfied { wait.end(true) } }
        monitor.start(queue: queue)
        queue.asyncAfter(deadline: .now() + min(max(0, limit), 1e8)) { [weak wait] in wait?.end(false) }
    }

    private func end(_ isReachable: Bool) {
        let done = done.withLock { $0.take() }
        // The monitor's handler holds this wait.
        monitor.cancel()
        done?(isReachable)
    }
}
