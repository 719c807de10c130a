/// The sums of a file's pieces, which reveal damage on the disk and its place.
///
/// The sums are CRC-32C, which detects accidental damage, but proves nothing against deliberate changes.
public struct PieceSumList: Sendable, Hashable {
    /// The length of a piece in bytes, a power of two of at least ``shortestPiece``; the last piece may be shorter.
    public let length: Int64
    /// The size of the file in bytes.
    public let size: Int64
    /// The sums of the pieces, in their order.
    public let sums: [UInt32]

    /// The minimum length of a piece, 4 MiB.
    public static let shortestPiece: Int64 = 4 << 20
    /// The maximum number of pieces. Beyond it, pieces are joined in pairs, so that a list has at most 16 KiB.
    public static let mostPieces = 4096

    /// Creates a list.
    ///
    /// - Returns: `nil` where the number of sums does not match the size.
    public init?(length: Int64, size: Int64, sums: [UInt32]) {
        guard length >= Self.shortestPiece, length & (length - 1) == 0, size >= 0, sums.count <= Self.mostPieces,
            (size / length) + (size % length == 0 ? 0 : 1) == Int64(sums.count)
        else { return nil }
        self.length = length
        self.size = size
        self.sums = sums
    }

    /// Returns the bytes of a piece.
    public func range(ofPiece number: Int) -> Range<Int64> {
        Int64(number) * length..<min(size, Int64(number + 1) * length)
    }

    /// The stored form: a version, the exponent of the length, the size, and the sums, all with the lowest byte first.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = [1, UInt8(length.trailingZeroBitCount)]
        bytes.reserveCapacity(10 + 4 * sums.count)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: size >> Int64(shift))) }
        for sum in sums {
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: sum >> shift)) }
        }
        return bytes
    }

    /// Parses the stored form.
    ///
    /// - Returns: `nil` for another form.
    public init?(encoded bytes: [UInt8]) {
        guard bytes.count >= 10, bytes[0] == 1, bytes[1] < 62, (bytes.count - 10) % 4 == 0 else { return nil }
        let size = (0..<8).reduce(Int64(0)) { $0 | Int64(bytes[2 + $1]) << Int64(8 * $1) }
        let sums = stride(from: 10, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
        }
        self.init(length: 1 << Int64(bytes[1]), size: size, sums: sums)
    }
}
