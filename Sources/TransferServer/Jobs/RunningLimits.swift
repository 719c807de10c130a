import Synchronization
import TransferQueue

/// The bounds on what is under way, which clients may change until the service ends.
final class RunningLimits: Sendable {
    private let queue: JobQueue
    private let limits: Mutex<BatchLimits>

    init(_ queue: JobQueue, _ limits: BatchLimits) {
        self.queue = queue
        self.limits = Mutex(limits)
    }

    var current: BatchLimits { limits.withLock { $0 } }

    /// - Parameter change: Is made alone: two clients' changes don't lose each other.
    func change(_ change: (inout BatchLimits) throws -> Void) rethrows {
        try limits.withLock { limits in
            try change(&limits)
            queue.setLimits(limits)
        }
    }
}
