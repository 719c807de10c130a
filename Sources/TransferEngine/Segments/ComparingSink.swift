import Glibc
import Synchronization
public import TransferCore

/// The result of a second request for existing bytes.
public final class Comparison: Sendable {
    /// A range whose bytes differ.
    public struct Difference: Sendable {
        /// The range in the file.
        public let range: Range<Int64>
        /// The bytes in the file.
        public let old: [UInt8]
        /// The bytes that came.
        public let new: [UInt8]
    }

    private let state: Mutex<(position: Int64, difference: Difference?)>

    /// Creates a comparison that begins at an offset.
    public init(at start: Int64) { state = Mutex((start, nil)) }

    /// The offset up to which the bytes have been compared.
    public var position: Int64 { state.withLock { $0.position } }
    /// The first difference, at which the comparison ended.
    public var difference: Difference? { state.withLock { $0.difference } }

    func came(to position: Int64, _ difference: Difference? = nil) { state.withLock { $0 = (position, difference) } }
}

/// A sink that compares a part of a file with the existing bytes, and writes nothing; used on one loop.
///
/// The first difference ends it (`TransferError.partDone`) after the rest of its block.
public final class ComparingSink: BodySink {
    /// The bytes that are reported as one difference.
    private static let block: Int64 = 64 << 10

    /// The offset up to which bytes have come.
    public private(set) var position: Int64
    private let part: PartFile
    private let end: Int64
    private let comparison: Comparison
    private var buffer: [UInt8] = []
    /// The block that differs, from its first different byte on, and the bytes that came for it.
    private var differing: (start: Int64, end: Int64, bytes: [UInt8])?

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - range: The requested part.
    ///   - comparison: The comparison that gets the results.
    public init(_ part: PartFile, _ range: Range<Int64>, _ comparison: Comparison) {
        self.part = part
        self.comparison = comparison
        position = range.lowerBound
        end = range.upperBound
    }

    /// Begins the body of the requested part.
    ///
    /// - Throws: `badResponse` where the body begins elsewhere.
    public func begin(_ start: BodyStart) throws(TransferError) {
        try start.requireBeginning(at: position)
    }

    /// Compares bytes.
    ///
    /// - Throws: `TransferError.partDone` at the end of the first difference, and for bytes behind the part; the error of
    ///   the disk.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, Int(clamping: end - position))])
        if differing == nil {
            let same = try sameCount(rest)
            advance(same)
            rest = UnsafeRawBufferPointer(rebasing: rest[same...])
            if !rest.isEmpty {
                differing = (position, min(end, (position / Self.block + 1) * Self.block), [])
            }
        }
        if let difference = differing {
            let count = min(rest.count, Int(difference.end - position))
            differing?.bytes += rest[..<count]
            position += Int64(count)
            if position == difference.end { return try tell() }
        }
        if position == end, bytes.count > rest.count { throw .partDone }
    }

    private func advance(_ count: Int) {
        position += Int64(count)
        comparison.came(to: position)
    }

    private func tell() throws(TransferError) {
        guard let (start, end, new) = differing else { return }
        var old = [UInt8](repeating: 0, count: new.count)
        let part = part
        if let fault = old.withUnsafeMutableBytes({ Self.read(part, $0, at: start) }) { throw fault }
        comparison.came(to: end, Comparison.Difference(range: start..<end, old: old, new: new))
        throw .partDone
    }

    /// Returns how many of the bytes equal those in the file, from `position` on.
    private func sameCount(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        if buffer.count < bytes.count { buffer = [UInt8](repeating: 0, count: bytes.count) }
        let (position, part) = (position, part)
        let same = buffer.withUnsafeMutableBytes { held -> Result<Int, TransferError> in
            let held = UnsafeMutableRawBufferPointer(rebasing: held[..<bytes.count])
            if let fault = Self.read(part, held, at: position) { return .failure(fault) }
            guard let there = held.baseAddress, memcmp(there, base, bytes.count) != 0 else {
                return .success(bytes.count)
            }
            return .success(zip(held, bytes).prefix { $0 == $1 }.count)
        }
        return try same.get()
    }

    /// Fills the buffer from the file.
    ///
    /// - Returns: The error for which it could not be filled.
    private static func read(
        _ part: PartFile, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> TransferError? {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(part.descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .file("read", part.path, count < 0 ? errno : EIO) }
            done += count
        }
        return nil
    }
}
