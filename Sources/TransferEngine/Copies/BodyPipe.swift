import DequeModule
import Synchronization
import TransferCore

/// A bounded queue of bytes from the exchange that receives them to the exchanges that send them on, in their order.
///
/// The bound makes the slower side set the pace of both. The two sides may be on different loops.
final class BodyPipe: Sendable {
    enum Taken {
        case bytes(Int)
        /// No byte has come yet: the reader is woken later.
        case later
        /// The bytes at that offset have gone to another reader already, or no writer will bring them.
        case gone
        case failed(TransferError)
    }

    /// The bytes that all pipes may hold together.
    private static let budget = 8 << 20
    /// The bytes that libcurl's buffers of all copies may have together, in each of the two directions.
    static let buffers = 4 << 20
    /// The number of pipes.
    private static let open = Atomic<Int>(0)

    /// The number of pipes, at least 1.
    static var count: Int { max(1, open.load(ordering: .relaxed)) }

    /// Returns the share of one pipe in `bytes` that all pipes share. Few copies have large buffers, many copies small
    /// ones.
    static func share(of bytes: Int) -> Int {
        max(16 << 10, min(256 << 10, bytes / count))
    }

    /// The most bytes that wait in one pipe. The piece that fills it comes on top (16 KiB of libcurl's).
    private static var capacity: Int { share(of: budget) }

    private struct State {
        var pieces: Deque<[UInt8]> = []
        /// The bytes of the first piece that are taken already.
        var taken = 0
        var count = 0
        /// The offset of the next byte that is handed on.
        var given: Int64
        var end: TransferError?
        var isClosed = false
        var isWriterHeld = false
        /// Whether a reader found no byte since the last call of ``takeEmptiness()``.
        var wasEmpty = false
        /// The readers that wait, by the offset that they wait for.
        var readers: [Int64: @Sendable () -> Void] = [:]
        /// The closure that is called when there is room again.
        var wakeWriter: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(from offset: Int64) {
        state = Mutex(State(given: offset))
        Self.open.add(1, ordering: .relaxed)
    }

    deinit { Self.open.subtract(1, ordering: .relaxed) }

    // MARK: The writer

    /// Sets the writer that continues from here. The closure is called, on any thread, when there is room for it again.
    func setWriter(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakeWriter = wake }
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isClosed else { return nil }
            state.pieces.append([UInt8](bytes))
            state.count += bytes.count
            return state.readers.removeValue(forKey: state.given)
        }
        wake?()
    }

    /// Whether the pipe takes more. If not, the writer is woken once it does.
    var isReady: Bool {
        state.withLock { state in
            state.isWriterHeld = state.count >= Self.capacity && !state.isClosed
            return !state.isWriterHeld
        }
    }

    /// Returns whether a reader had to wait for the writer since the last call.
    func takeEmptiness() -> Bool {
        state.withLock { state in
            defer { state.wasEmpty = state.readers[state.given] != nil }
            return state.wasEmpty
        }
    }

    /// Ends the input: readers that wait for more fail with that error.
    func fail(_ error: TransferError) {
        let wakes = state.withLock { state in
            if state.end == nil { state.end = error }
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for wake in wakes { wake() }
    }

    // MARK: Readers

    /// Moves bytes into the buffer.
    ///
    /// - Parameters:
    ///   - offset: The reader's position.
    ///   - wake: A closure that is called, on any thread, once bytes may be there after ``Taken/later``.
    func take(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, wake: @escaping @Sendable () -> Void
    ) -> Taken {
        var (next, writer): ((@Sendable () -> Void)?, (@Sendable () -> Void)?)
        defer {
            next?()
            writer?()
        }
        return state.withLock { state in
            guard !state.isClosed, offset >= state.given else { return .gone }
            guard offset == state.given, state.count > 0 else {
                if let error = state.end { return .failed(error) }
                if offset == state.given { state.wasEmpty = true }
                state.readers[offset] = wake
                return .later
            }
            var moved = 0
            while moved < buffer.count, let piece = state.pieces.first {
                let count = min(buffer.count - moved, piece.count - state.taken)
                piece.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[moved..<moved + count]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[state.taken..<state.taken + count]))
                }
                moved += count
                state.taken += count
                if state.taken == piece.count {
                    state.pieces.removeFirst()
                    state.taken = 0
                }
            }
            state.count -= moved
            state.given += Int64(moved)
            if state.count > 0 || state.end != nil { next = state.readers.removeValue(forKey: state.given) }
            if state.isWriterHeld, state.count <= Self.capacity / 2 {
                state.isWriterHeld = false
                writer = state.wakeWriter
            }
            return .bytes(moved)
        }
    }

    /// The offset of the next byte that is handed on.
    var given: Int64 { state.withLock { $0.given } }

    /// Discards the waiting bytes: no reader takes them.
    func close() {
        let wakes = state.withLock { state in
            state.isClosed = true
            state.pieces = []
            state.count = 0
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for wake in wakes { wake() }
    }
}
