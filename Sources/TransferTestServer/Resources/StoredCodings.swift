/// A content coding (RFC 9110 §8.4.1) whose streams are written without compression.
public enum StoredCoding: String, Sendable, CaseIterable {
    case gzip, deflate

    /// Returns the bytes in this coding.
    public func coded(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .gzip: Gzip.stored(bytes)
        case .deflate: Zlib.stored(bytes)
        }
    }
}

/// A writer of valid gzip streams (RFC 1952) of stored blocks, since the tests concern the coding and not the
/// compression.
enum Gzip {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + Deflate.stored(bytes)
            + Deflate.littleEndian(Checksum.crc32(bytes))
            + Deflate.littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }
}

/// A writer of valid zlib streams (RFC 1950), which HTTP calls `deflate` (RFC 9110, section 8.4.1.2).
enum Zlib {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        [0x78, 0x01] + Deflate.stored(bytes) + withUnsafeBytes(of: Checksum.adler32(bytes).bigEndian, Array.init)
    }
}

enum Deflate {
    /// Returns stored blocks (RFC 1951, section 3.2.4).
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + 65535, bytes.count)
            let size = UInt16(end - start)
            stream.append(end == bytes.count ? 1 : 0)
            stream += littleEndian(size) + littleEndian(~size)
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        return stream
    }

    static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }
}

enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        let table = table
        return ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }

    static func adler32(_ bytes: [UInt8]) -> UInt32 {
        let sums = bytes.reduce((low: UInt32(1), high: UInt32(0))) { sums, byte in
            let low = (sums.low + UInt32(byte)) % 65521
            return (low, (sums.high + low) % 65521)
        }
        return sums.high << 16 | sums.low
    }
}
