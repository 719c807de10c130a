import Synchronization
import TransferQueue

/// Carries a report out of a closure that runs on another thread.
final class ReportBox: Sendable {
    private let value = Mutex(JobFileReport())
    var report: JobFileReport { value.withLock { $0 } }
    func set(_ report: JobFileReport) { value.withLock { $0 = report } }
    func add(_ fault: JobFileFault) { value.withLock { $0.add(fault) } }
}
