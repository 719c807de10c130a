import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// The body of an answer in memory: filled on a loop, read by the request once the exchange has ended.
final class ReceivedData: Sendable {
    private let bytes = Mutex<Data?>(nil)

    /// `nil` while no byte has come.
    var data: Data? { bytes.withLock { $0 } }

    func set(_ data: Data) { bytes.withLock { $0 = data.isEmpty ? nil : data } }

    /// Takes one body; used on one loop.
    final class Sink: BodySink {
        private let target: ReceivedData
        private let gate: AnswerGate
        private let cached: CachedExchange?
        /// The answer isn't the one that the program gets.
        private var isWithheld = false
        /// Memory for what was announced, within reason: a length is only a claim.
        private var capacity = 0
        /// Sees every piece that arrives.
        private let tap: ((Data) -> Void)?
        private(set) var position: Int64 = 0

        /// - Parameters:
        ///   - gate: What holds the body back until the head has been looked at.
        ///   - cached: Knows which answers the program doesn't get.
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
