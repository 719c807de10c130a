import CTransferLinux
import Glibc
import Synchronization
public import TransferCore
import TransferCrypto
import TransferEventLoop

/// Reads a file from its beginning on while the rest of it arrives over several connections, so that its digest is there
/// soon after its last byte. Bytes before the first hole don't change any more.
public final class ReadingAhead: Sendable {
    private struct Reading {
        var descriptor: Int32 = -1
        var position: Int64 = 0
        var digest: Digest?
        var isOver = false
    }

    private struct Order {
        /// Bytes from the beginning that are there.
        var length: Int64 = 0
        var isUnderWay = false
        var isCancelled = false
    }

    private let part: PartFile
    private let algorithm: DigestAlgorithm?
    private let sums = PieceSums()
    private let order = Mutex(Order())
    /// Locked while something is read: by one worker at a time.
    private let reading = Mutex(Reading())

    /// Bytes that are worth a worker's turn.
    private static let step: Int64 = 8 << 20
    private static let piece = 1 << 20

    /// - Parameter algorithm: `nil` where only the sums of the pieces are wanted.
    init(_ part: PartFile, _ algorithm: DigestAlgorithm?) {
        self.part = part
        self.algorithm = algorithm
    }

    deinit {
        reading.withLock { reading in
            if reading.descriptor >= 0 { close(reading.descriptor) }
        }
    }

    /// Tells that so many bytes from the beginning are there.
    func reached(_ length: Int64, by workers: WorkerPool) {
        let isDue = order.withLock { order in
            guard length >= order.length + Self.step, !order.isCancelled else { return false }
            order.length = length
            defer { order.isUnderWay = true }
            return !order.isUnderWay
        }
        guard isDue else { return }
        workers.execute { [self] in
            while let length = next() { reading.withLock { _ = read(&$0, to: length) } }
        }
    }

    /// - Returns: How far is to be read; `nil` when there is nothing to do for now.
    private func next() -> Int64? {
        let position = reading.withLock { $0.isOver ? .max : $0.position }
        return order.withLock { order in
            guard order.length > position, !order.isCancelled else {
                order.isUnderWay = false
                return nil
            }
            return order.length
        }
    }

    /// Gives up what has been read: bytes at the beginning may change.
    func cancel() {
        order.withLock { $0.isCancelled = true }
    }

    /// Reads the rest of a file that is whole. Blocks: for workers.
    ///
    /// - Returns: `nil` where the file has to be read from its beginning: also the second time, as it may have been changed.
    public func finish(size: Int64) -> (digest: Checksum?, sums: PieceSumList?)? {
        let isUsable = order.withLock { order in
            defer { order.isCancelled = true }
            return !order.isCancelled
        }
        guard isUsable else { return nil }
        return reading.withLock { reading in
            defer { reading.isOver = true }
            guard !reading.isOver, read(&reading, to: size), reading.position == size else { return nil }
            let digest = try? reading.digest?.finish()
            guard algorithm == nil || digest != nil else { return nil }
            return (digest, sums.list(of: size))
        }
    }

    /// - Returns: Whether the reading can go on.
    private func read(_ reading: inout Reading, to end: Int64) -> Bool {
        guard !reading.isOver, begin(&reading) else {
            reading.isOver = true
            return false
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
        defer { buffer.deallocate() }
        while reading.position < end {
            let wanted = min(buffer.count, Int(clamping: end - reading.position))
            let count = pread(reading.descriptor, buffer.baseAddress, wanted, off_t(reading.position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                reading.isOver = true
                return false
            }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            reading.digest?.update(bytes)
            sums.add(bytes, at: reading.position)
            reading.position += Int64(count)
        }
        return true
    }

    /// Opens the file, the first time.
    private func begin(_ reading: inout Reading) -> Bool {
        guard reading.descriptor < 0 else { return true }
        reading.descriptor = transfer_open(part.readablePath, O_RDONLY | O_CLOEXEC, 0)
        guard reading.descriptor >= 0 else { return false }
        guard let algorithm else { return true }
        reading.digest = try? Digest(algorithm)
        return reading.digest != nil
    }
}
