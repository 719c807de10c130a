import Synchronization
import TransferCore
import TransferEngine

/// A source as the engine reads it. A `close` may come from another thread, and takes effect after the current read.
/// Neither a stream nor a descriptor may be closed while a thread reads it.
final class ExclusiveReader: BodyReader {
    private enum Phase {
        case idle, reading, closing, closed
    }

    private let source: any ByteSource
    private let phase = Mutex(Phase.idle)

    init(_ source: any ByteSource) { self.source = source }

    deinit {
        // No read is running, as its caller would hold a reference.
        if phase.withLock({ $0 }) != .closed { source.close() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        guard !buffer.isEmpty else { return 0 }
        let mayRead = phase.withLock { phase in
            guard phase == .idle else { return false }
            phase = .reading
            return true
        }
        guard mayRead else { throw TransferError(.cancelled, "the body was closed before it was read") }
        defer { endReading() }
        do { return try source.read(into: buffer) } catch { throw error.transferError }
    }

    func close() {
        let closesNow = phase.withLock { phase in
            switch phase {
            case .idle:
                phase = .closed
                return true
            case .reading:
                phase = .closing
                return false
            case .closing, .closed: return false
            }
        }
        if closesNow { source.close() }
    }

    private func endReading() {
        let closes = phase.withLock { phase in
            let closes = phase == .closing
            phase = closes ? .closed : .idle
            return closes
        }
        if closes { source.close() }
    }
}
