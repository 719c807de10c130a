import DequeModule
import Synchronization
import TransferCore

/// Bytes on their way from an exchange that brings them to others that send them on, in their order. It's bounded, so that
/// the slower side sets the pace of both; the two may be on different loops.
final class BodyPipe: Sendable {
    enum Taken {
        case bytes(Int)
        /// Nothing is there yet: the reader is woken.
        case later
        /// The bytes at that offset have gone to somebody else already, or nobody brings them any more.
        case gone
        case failed(TransferError)
    }

    /// Bytes that all pipes may hold together.
    private static let budget = 8 << 20
    /// Bytes that libcurl's buffers of all copies may have together, in each of the two directions.
    static let buffers = 4 << 20
    /// Pipes that there are.
    private static let open = Atomic<Int>(0)

    /// The part of one pipe in so many bytes that all of them share: few copies have large buffers, and many small ones.
    static func share(of bytes: Int) -> Int {
        max(16 << 10, min(256 << 10, bytes / max(1, open.load(ordering: .relaxed))))
    }

    /// Bytes that wait in one pipe at most; the piece by which it becomes full comes on top (16 KiB of libcurl's).
    private static var capacity: Int { share(of: budget) }

    private struct State {
        var pieces: Deque<[UInt8]> = []
        /// Bytes of the first piece that are gone.
        var taken = 0
        var count = 0
        /// The offset of the next byte that is handed on.
        var given: Int64
        var end: TransferError?
        var isClosed = false
        var isWriterHeld = false
        /// Readers that wait, by the offset that they wait for.
        var readers: [Int64: @Sendable () -> Void] = [:]
        /// There is room again.
        var wakeWriter: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(from offset: Int64) {
        state = Mutex(State(given: offset))
        Self.open.add(1, ordering: .relaxed)
    }

    deinit { Self.open.subtract(1, ordering: .relaxed) }

    // MARK: The writer

    /// Another writer goes on from here; the closure is called, on any thread, when there is room for it again.
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

    /// Whether it takes more. When it doesn't, the writer is woken once it does.
    var isReady: Bool {
        state.withLock { state in
            state.isWriterHeld = state.count >= Self.capacity && !state.isClosed
            return !state.isWriterHeld
        }
    }

    /// Nothing more comes: those who wait for more fail with that error.
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
    ///   - offset: Where the reader is.
    ///   - wake: Called once there may be something for it, after ``Taken/later``; on any thread.
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

    /// Gives up what waits in it: no reader takes any more.
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
