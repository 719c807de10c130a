import Synchronization
import TransferQueue

/// The limits on simultaneous work, which clients may change until the service ends.
final class RunningLimits: Sendable {
    private let queue: JobQueue
    private let limits: Mutex<BatchLimits>

    init(_ queue: JobQueue, _ limits: BatchLimits) {
        self.queue = queue
        self.limits = Mutex(limits)
    }

    var current: BatchLimits { limits.withLock { $0 } }

    /// Changes the limits.
    ///
    /// - Parameter change: A closure that runs exclusively, so that two clients do not overwrite each other's changes.
    func change(_ change: (inout BatchLimits) throws -> Void) rethrows {
        try limits.withLock { limits in
            try change(&limits)
            queue.setLimits(limits)
        }
    }
}
