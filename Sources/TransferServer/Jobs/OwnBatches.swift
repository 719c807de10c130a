import Synchronization

/// The batches to which clients may add jobs, as checked a moment ago. Thousands of requests a second thus need no
/// check each. A local job file that takes the name meanwhile does no harm: its jobs stay separate, and the clients'
/// jobs stay confined.
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
