import DequeModule
import TransferCore
import TransferEventLoop

/// A reader of a streamed body ahead of its exchange, on threads that may block. It has two buffers: one is sent while
/// the other is filled.
///
/// `@unchecked Sendable`: only its loop's thread touches its stored properties, and closures for other threads only
/// carry it back there. A reading is used by one piece of work at a time.
final class BodyFeeder: BodyProvider, @unchecked Sendable {
    private static let bufferSize = 128 << 10

    /// The stream that is read from; a rewind begins another reading.
    private final class Reading: @unchecked Sendable {  // Only the one read under way touches `reader`.
        let stream: any BodyStream
        var reader: (any BodyReader)?

        init(_ stream: any BodyStream) { self.stream = stream }

        func fill(_ chunk: Chunk) throws(TransferError) -> Int {
            let open: any BodyReader
            if let reader { open = reader } else { open = try stream.open() }
            reader = open
            return try open.read(into: chunk.memory)
        }

        func close() {
            reader?.close()
            reader = nil
        }
    }

    private final class Chunk: @unchecked Sendable {  // A chunk belongs to the loop or to the one read under way.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: BodyFeeder.bufferSize, alignment: 16)
        var count = 0
        var taken = 0
        deinit { memory.deallocate() }
    }

    private enum End { case none, reached, failed(TransferError) }

    private let stream: any BodyStream
    private let threads: WorkerPool
    private let loop: EventLoop
    /// The closure that is called on the loop when bytes are there again.
    private let wake: @Sendable () -> Void
    private var reading: Reading
    private var isReading = false
    private var isClosed = false
    private var filled: Deque<Chunk> = []
    private var free: [Chunk] = []
    private var end = End.none
    private var wasUsed = false
    /// The bytes that were read, and the bytes that were given to libcurl.
    private var readCount: Int64 = 0
    private var givenCount: Int64 = 0

    init(_ stream: any BodyStream, threads: WorkerPool, loop: EventLoop, wake: @escaping @Sendable () -> Void) {
        self.stream = stream
        self.threads = threads
        self.loop = loop
        self.wake = wake
        reading = Reading(stream)
    }

    func provide(_ buffer: UnsafeMutableRawBufferPointer) -> Result<Int?, TransferError> {
        wasUsed = true
        guard let chunk = filled.first else {
            switch end {
            case .none:
                readOn()
                return .success(nil)
            case .reached: return .success(0)
            case .failed(let error): return .failure(error)
            }
        }
        // The last bytes of a body with an announced length wait until the stream has ended. libcurl does not ask
        // again, and the server would take a longer body for a whole one.
        if let length = stream.length, givenCount + Int64(chunk.count - chunk.taken) >= length {
            switch end {
            case .none:
                readOn()
                return .success(nil)
            case .reached: break
            case .failed(let error): return .failure(error)
            }
        }
        let count = min(buffer.count, chunk.count - chunk.taken)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk.memory[chunk.taken..<chunk.taken + count]))
        chunk.taken += count
        givenCount += Int64(count)
        if chunk.taken == chunk.count {
            free.append(filled.removeFirst())
            readOn()
        }
        return .success(count)
    }

    func rewind() {
        guard wasUsed else { return }
        wasUsed = false
        close(reading)
        reading = Reading(stream)
        isReading = false
        filled = []
        free = []
        end = .none
        readCount = 0
        givenCount = 0
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        close(reading)
    }

    /// Closes a reading behind the read that may be under way: work of one reading is done in its order.
    private func close(_ old: Reading) {
        guard isReading else { return threads.execute { old.close() } }
        // The read under way closes its reading, as the result is no longer wanted.
    }

    private func readOn() {
        guard !isReading, !isClosed, case .none = end, filled.count < 2 else { return }
        let chunk = free.popLast() ?? Chunk()
        let current = reading
        isReading = true
        threads.execute { [self] in
            let result = Result { () throws(TransferError) in try current.fill(chunk) }
            // A loop that has ended has no use for the body.
            if !loop.execute({ self.didRead(result, chunk, current) }) { current.close() }
        }
    }

    private func didRead(_ result: Result<Int, TransferError>, _ chunk: Chunk, _ old: Reading) {
        guard old === reading, !isClosed else { return threads.execute { old.close() } }
        isReading = false
        switch result {
        case .failure(let error): end = .failed(error)
        case .success(0):
            if let length = stream.length, readCount < length {
                end = .failed(
                    TransferError(.sourceChanged, "the body ended \(CountText.bytes(length - readCount)) early"))
            } else {
                end = .reached
            }
        case .success(let count):
            chunk.count = count
            chunk.taken = 0
            readCount += Int64(count)
            if let length = stream.length, readCount > length {
                end = .failed(
                    TransferError(
                        .sourceChanged,
                        "the body is longer than the "
                            + "\(CountText.bytes(length)) announced"))
            } else {
                filled.append(chunk)
                readOn()
            }
        }
        wake()
    }
}
