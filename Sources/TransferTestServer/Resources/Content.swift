import Glibc

/// The bytes of a resource: given, or generated from their offset, so that a file of many gigabytes needs no memory.
public struct Content: Sendable, Equatable {
    private enum Source: Sendable, Equatable {
        case bytes([UInt8])
        case random(seed: UInt64, count: Int64)
    }

    private let source: Source

    /// Returns content with these bytes.
    public static func bytes(_ bytes: [UInt8]) -> Content { Content(source: .bytes(bytes)) }
    /// Returns content with the UTF-8 bytes of a text.
    public static func text(_ text: String) -> Content { Content(source: .bytes(Array(text.utf8))) }
    /// Content without any byte.
    public static let empty = Content.bytes([])

    /// Returns bytes that look random and are always the same for the same seed. The first bytes do not depend on
    /// `count`.
    public static func random(seed: UInt64, count: Int64) -> Content {
        Content(source: .random(seed: seed, count: count))
    }

    /// The number of bytes.
    public var count: Int64 {
        switch source {
        case .bytes(let bytes): Int64(bytes.count)
        case .random(_, let count): count
        }
    }

    /// Returns the bytes of a range, by default all of them, in memory.
    public func bytes(in range: Range<Int64>? = nil) -> [UInt8] {
        let range = (range ?? 0..<count).clamped(to: 0..<count)
        // The initializer below writes to the storage shared by all empty arrays, which the thread sanitizer reports.
        guard !range.isEmpty else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(range.count)) { buffer, initialized in
            let target = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: range.count)
            initialized = copy(from: range.lowerBound, into: target)
        }
    }

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// - Returns: The number of bytes copied, less than the buffer's size only at the end of the content.
    @discardableResult
    public func copy(from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let size = Int(min(Int64(buffer.count), max(0, count - offset)))
        guard size > 0, let target = buffer.baseAddress else { return 0 }
        switch source {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { source in
                if let base = source.baseAddress { memcpy(target, base + Int(offset), size) }
            }
        case .random(let seed, _):
            RandomBlocks.copy(
                seed: seed, offset: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]))
        }
        return size
    }

    /// Returns the offset at which a file on disk differs from this content; `nil` where both are equal, also in
    /// length.
    ///
    /// - Throws: ``TestServerError`` where the file cannot be opened or read.
    public func firstDifference(fromFileAt path: String) throws -> Int64? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestServerError("open \(path)") }
        defer { close(descriptor) }
        var actual = [UInt8](repeating: 0, count: 1 << 18)
        var offset: Int64 = 0
        while true {
            let received = actual.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard received >= 0 else { throw TestServerError("read \(path)") }
            if received == 0 { return offset == count ? nil : offset }
            let expected = bytes(in: offset..<max(offset, min(offset + Int64(received), count)))
            if expected.count != received || expected[...] != actual[..<received] {
                let differing = zip(expected, actual).enumerated().first { $1.0 != $1.1 }
                return offset + Int64(differing?.offset ?? expected.count)
            }
            offset += Int64(received)
        }
    }
}

/// The generator of random-looking pages, copied from a shared pool so that `memcpy` does the work even in a debug
/// build. Each page begins with its stamp, and has its own place in the pool. Bytes that are shifted, repeated or
/// swapped are thus detected.
private enum RandomBlocks {
    static let page = 4096
    static let pool: [UInt8] = {
        var generator = UInt64(0x5EED)
        return (0..<((1 << 16) + page) / 8).flatMap { _ in
            generator &+= 0x9E37_79B9_7F4A_7C15
            return withUnsafeBytes(of: mix(generator).littleEndian, Array.init)
        }
    }()

    /// The finalizer of SplitMix64.
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    static func copy(seed: UInt64, offset: Int64, into buffer: UnsafeMutableRawBufferPointer) {
        pool.withUnsafeBytes { pool in
            guard let target = buffer.baseAddress, let source = pool.baseAddress else { return }
            var done = 0
            while done < buffer.count {
                let position = offset + Int64(done)
                let within = Int(position % Int64(page))
                let size = min(page - within, buffer.count - done)
                let stamp = mix(mix(seed &+ 1) &+ UInt64(position / Int64(page)))
                memcpy(target + done, source + Int(stamp & 0xFFFF) + within, size)
                if within < 8 {
                    withUnsafeBytes(of: stamp.littleEndian) { bytes in
                        for index in within..<min(8, within + size) { buffer[done + index - within] = bytes[index] }
                    }
                }
                done += size
            }
        }
    }
}
