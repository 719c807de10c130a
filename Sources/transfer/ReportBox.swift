import Synchronization
import TransferQueue

/// A container that carries a report out of a closure on another thread.
final class ReportBox: Sendable {
    private let value = Mutex((report: JobFileReport(), lastLine: 0))
    var report: JobFileReport { value.withLock { $0.report } }
    /// The line of the last job that was read; 0 where it was not noted.
    var lastLine: Int { value.withLock { $0.lastLine } }
    func set(_ report: JobFileReport, lastLine: Int = 0) { value.withLock { $0 = (report, lastLine) } }
    func add(_ fault: JobFileFault) { value.withLock { $0.report.add(fault) } }
}
