import Synchronization

/// Tells once what the queue's database may lose, however often the queue is opened.
final class Weakness: Sendable {
    private let reporter: Reporter
    private let isTold = Mutex(false)

    init(_ reporter: Reporter) { self.reporter = reporter }

    func tell(_ words: String) {
        let wasTold = isTold.withLock { told in
            defer { told = true }
            return told
        }
        if !wasTold { reporter.note(.warn, words) }
    }
}
