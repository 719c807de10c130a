import Synchronization
import TransferQueue

/// The completed jobs of a front's run, in the order of their ends.
final class FrontReceipts: Sendable {
    private let receipts = Mutex<[JobReceipt]>([])

    func note(_ event: QueueEvent) {
        guard case .finished(let receipt) = event.kind else { return }
        receipts.withLock { $0.append(receipt) }
    }

    /// Returns the receipt of a job.
    func receipt(of identity: String) -> JobReceipt? { receipts.withLock { $0.last { $0.job == identity } } }

    /// Writes the answers to uploads to standard output.
    func writeAnswers() {
        for receipt in receipts.withLock({ $0 }) where receipt.isUpload {
            if let text = receipt.response { print(text, terminator: "") }
        }
    }
}
