import Synchronization
import TransferCore
import TransferEventLoop

/// A report that the queue's database is unavailable, made at once and then once a minute, and that it is available
/// again.
final class ConnectionNotice: Sendable {
    private let reporter: Reporter
    private let notice = Mutex(LastingNotice())

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// Reports a change.
    ///
    /// - Parameter error: Why the database is unavailable; `nil` when it is available.
    func tell(_ error: TransferError?) {
        if let error {
            guard notice.withLock({ $0.isDue(at: .now) }) else { return }
            reporter.note(.warn, "the queue's database is away, waiting for it: \(error.message)")
        } else if notice.withLock({ $0.end() }) {
            reporter.note(.info, "the queue's database is back")
        }
    }
}
