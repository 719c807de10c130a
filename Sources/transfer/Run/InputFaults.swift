import Synchronization
import TransferCore
import TransferQueue

/// Bad lines of standard input: each is a failed job, once, however many faults it has.
final class InputFaults: Sendable {
    private let lines = Mutex(Set<Int>())
    private let queue: JobQueue

    init(_ queue: JobQueue) { self.queue = queue }

    var isEmpty: Bool { lines.withLock { $0.isEmpty } }

    func add(_ fault: JobFileFault, batch: String) async {
        guard lines.withLock({ $0.insert(fault.span.line).inserted }) else { return }
        let error = TransferError(.badURL, "\(fault.message) (line \(fault.span.line), column \(fault.span.column))")
        let failure = JobFailure(batch: batch, job: "line \(fault.span.line)", error: error, attempts: 0, host: nil)
        await queue.addFailure(failure)
    }
}
