import Synchronization

/// Tells once what the queue's database may lose, however often the queue is opened.
final class DurabilityWarning: Sendable {
    private let reporter: Reporter
    private let isReported = Mutex(false)

    init(_ reporter: Reporter) { self.reporter = reporter }

    func tell(_ words: String) {
        let wasReported = isReported.withLock { reported in
            defer { reported = true }
            return reported
        }
        if !wasReported { reporter.note(.warn, words) }
    }
}
