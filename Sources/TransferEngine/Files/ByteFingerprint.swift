/// A fingerprint of 64 bits that detects accidental changes of bytes, piece by piece and as fast as they can be read.
///
/// Deliberate changes need digests.
struct ByteFingerprint {
    private static let width = 32
    private static let prime: UInt64 = 0x9E37_79B1_85EB_CA87

    // Four lanes let the processor multiply for all of them at once.
    private var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    /// The bytes at the end that do not fill the lanes.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var bytes = bytes
        if !rest.isEmpty {
            let missing = min(Self.width - rest.count, bytes.count)
            rest += bytes[..<missing]
            bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
            guard rest.count == Self.width else { return }
            rest.withUnsafeBytes { add($0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Self.width * Self.width
        add(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
        rest += bytes[whole...]
    }

    /// Adds bytes to the lanes.
    ///
    /// - Parameter bytes: The bytes; their number is a multiple of the lanes' width.
    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var (a, b, c, d) = lanes
        var offset = 0
        while offset < bytes.count {
            a = Self.mix(a, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            b = Self.mix(b, bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            c = Self.mix(c, bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
            d = Self.mix(d, bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
            offset += Self.width
        }
        lanes = (a, b, c, d)
    }

    @inline(__always) private static func mix(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (lane ^ word) &* prime
        return mixed ^ mixed >> 29
    }

    /// The fingerprint of the bytes so far.
    var value: UInt64 {
        var last = self
        last.rest += [UInt8](repeating: 0, count: Self.width - rest.count)
        last.rest.withUnsafeBytes { last.add($0) }
        return [last.lanes.1, last.lanes.2, last.lanes.3, count].reduce(last.lanes.0) { Self.mix($0, $1) }
    }
}
