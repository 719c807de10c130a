import Synchronization

/// Batches that clients may add to, as was seen a moment ago: thousands of requests a second needn't look each time. A job
/// file of this machine that takes the name meanwhile has jobs of its own all the same, and paths that the jobs' bounds hold.
final class OwnBatches: Sendable {
    private let seen = Mutex<[String: ContinuousClock.Instant]>([:])
    private static let moment = Duration.seconds(1)
    private static let most = 100

    func holds(_ name: String) -> Bool {
        seen.withLock { seen in seen[name].map { ContinuousClock.now - $0 < Self.moment } ?? false }
    }

    func add(_ name: String) {
        seen.withLock { seen in
            if seen.count >= Self.most { seen = [:] }
            seen[name] = .now
        }
    }
}
