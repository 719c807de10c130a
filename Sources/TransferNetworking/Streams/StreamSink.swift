import Foundation
import TransferCore
import TransferEngine

/// A sink that delivers each piece of a response as it arrives; used on one loop.
final class StreamSink: BodySink {
    private let record: AttemptRecord
    private let window: FlowWindow
    private let deliver: @Sendable (StreamPiece) -> Void
    private(set) var position: Int64 = 0

    init(_ record: AttemptRecord, window: FlowWindow, deliver: @escaping @Sendable (StreamPiece) -> Void) {
        self.record = record
        self.window = window
        self.deliver = deliver
    }

    var isReady: Bool { record.gate.isOpen && window.isOpen }

    func begin(_ start: BodyStart) throws(TransferError) { position = 0 }

    func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(new.count)
        guard !record.gate.isRefused, let base = new.baseAddress, !new.isEmpty else { return }
        let data = Data(bytes: base, count: new.count)
        deliver(StreamPiece(data: data, token: window.admit(new.count) { [record] in record.readOn() }))
    }
}

/// A piece of a response, with its share of the window.
struct StreamPiece: Sendable {
    let data: Data
    let token: FlowToken
    /// The turn, which a handler holds until it has processed the piece.
    var turn: HandlerTurn?
}
