import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// The body of a response in memory: filled on a loop, read by the request once the exchange has ended.
final class ReceivedData: Sendable {
    private let bytes = Mutex<Data?>(nil)

    /// The received bytes; `nil` before the first byte.
    var data: Data? { bytes.withLock { $0 } }

    func set(_ data: Data) { bytes.withLock { $0 = data.isEmpty ? nil : data } }

    /// A sink for one body; used on one loop.
    final class Sink: BodySink {
        private let target: ReceivedData
        private let gate: AnswerGate
        private let cached: CachedExchange?
        /// Whether the program does not receive this response.
        private var isWithheld = false
        /// The memory to reserve: the announced length up to 1 MiB, as a length is only a claim.
        private var capacity = 0
        /// The receiver of a copy of every piece.
        private let tap: ((Data) -> Void)?
        private(set) var position: Int64 = 0

        /// - Parameters:
        ///   - gate: The gate that holds the body back until the head has been judged.
        ///   - cached: The exchange's cache decision, which says whether the program receives the response.
        init(_ target: ReceivedData, gate: AnswerGate, cached: CachedExchange?, tap: ((Data) -> Void)?) {
            self.target = target
            self.gate = gate
            self.cached = cached
            self.tap = tap
        }

        var isReady: Bool { gate.isOpen }

        func begin(_ start: BodyStart) throws(TransferError) {
            position = 0
            isWithheld = cached?.withholds(start.head) ?? false
            guard !isWithheld else { return }
            capacity = Int(min(start.total ?? 0, 1 << 20))
            target.bytes.withLock { $0 = nil }
        }

        func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
            position += Int64(new.count)
            guard !isWithheld, !gate.isRefused, let base = new.baseAddress, !new.isEmpty else { return }
            target.bytes.withLock { data in
                if data == nil { data = Data(capacity: max(capacity, new.count)) }
                data?.append(base.assumingMemoryBound(to: UInt8.self), count: new.count)
            }
            tap?(Data(bytes: base, count: new.count))
        }
    }
}
