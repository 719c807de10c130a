import CTransferLinux
import Glibc
import Synchronization
public import TransferCore
import TransferCrypto
import TransferEventLoop

/// A reading of a file from its beginning while the rest of it arrives over several connections.
///
/// The digest is then known soon after the last byte. Bytes before the first hole no longer change.
public final class ReadingAhead: Sendable {
    private struct Reading {
        var descriptor: Int32 = -1
        var position: Int64 = 0
        var digest: Digest?
        var isOver = false
    }

    private struct Order {
        /// The number of existing bytes from the beginning.
        var length: Int64 = 0
        var isUnderWay = false
        var isCancelled = false
    }

    private let part: PartFile
    private let algorithm: DigestAlgorithm?
    private let sums = PieceSums()
    private let order = Mutex(Order())
    /// The state of the reading, locked during a read: only one worker reads at a time.
    private let reading = Mutex(Reading())

    /// The least number of new bytes for which a worker is asked to read.
    private static let step: Int64 = 8 << 20
    private static let piece = 1 << 20

    /// Creates a reading.
    ///
    /// - Parameter algorithm: The digest to make; `nil` makes only the sums of the pieces.
    init(_ part: PartFile, _ algorithm: DigestAlgorithm?) {
        self.part = part
        self.algorithm = algorithm
    }

    deinit {
        reading.withLock { reading in
            if reading.descriptor >= 0 { close(reading.descriptor) }
        }
    }

    /// Notes that so many bytes exist from the beginning.
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

    /// Returns the end of the next read.
    ///
    /// - Returns: `nil` when there is nothing to read for now.
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

    /// Discards the results, because bytes at the beginning may change.
    func cancel() {
        order.withLock { $0.isCancelled = true }
    }

    /// Reads the rest of a complete file. The call blocks: it is meant for workers.
    ///
    /// - Returns: `nil` where the file must be read from its beginning. A second call returns `nil` too, as the file
    ///   may have been changed.
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

    /// Reads up to an offset.
    ///
    /// - Returns: Whether the reading can continue.
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

    /// Opens the file at the first call.
    private func begin(_ reading: inout Reading) -> Bool {
        guard reading.descriptor < 0 else { return true }
        reading.descriptor = transfer_open(part.readablePath, O_RDONLY | O_CLOEXEC, 0)
        guard reading.descriptor >= 0 else { return false }
        guard let algorithm else { return true }
        reading.digest = try? Digest(algorithm)
        return reading.digest != nil
    }
}
