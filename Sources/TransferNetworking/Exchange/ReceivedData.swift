import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// The body of an answer in memory: filled on a loop, read by the request once the exchange has ended.
final class ReceivedData: Sendable {
    private let bytes = Mutex<Data?>(nil)

    var data: Data? { bytes.withLock { $0 } }

    /// Takes one body; used on one loop.
    final class Sink: BodySink {
        private let target: ReceivedData
        private let gate: AnswerGate
        /// Sees every piece that arrives.
        private let tap: ((Data) -> Void)?
        private(set) var position: Int64 = 0

        /// - Parameter gate: What holds the body back until the head has been looked at.
        init(_ target: ReceivedData, gate: AnswerGate, tap: ((Data) -> Void)?) {
            self.target = target
            self.gate = gate
            self.tap = tap
        }

        var isReady: Bool { gate.isOpen }

        func begin(_ start: BodyStart) throws(TransferError) {
            position = 0
            // Memory for what was announced, within reason: a length is only a claim.
            let capacity = Int(min(start.total ?? 0, 1 << 20))
            target.bytes.withLock { $0 = Data(capacity: capacity) }
        }

        func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
            position += Int64(new.count)
            guard let base = new.baseAddress else { return }
            target.bytes.withLock { $0?.append(base.assumingMemoryBound(to: UInt8.self), count: new.count) }
            tap?(Data(bytes: base, count: new.count))
        }
    }
}
