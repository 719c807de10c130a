import Synchronization
import TransferCore

/// A report, made once each, that the queue's database is unavailable, and that it is available again.
final class ConnectionNotice: Sendable {
    private let reporter: Reporter
    private let isAway = Mutex(false)

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// Reports a change.
    ///
    /// - Parameter error: Why the database is unavailable; `nil` when it is available.
    func tell(_ error: TransferError?) {
        let wasAway = isAway.withLock { away in
            defer { away = error != nil }
            return away
        }
        if let error, !wasAway {
            reporter.note(.warn, "the queue's database is away, waiting for it: \(error.message)")
        } else if error == nil, wasAway {
            reporter.note(.info, "the queue's database is back")
        }
    }
}
