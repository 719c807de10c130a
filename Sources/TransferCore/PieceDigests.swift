/// The digests of a file's pieces, as Metalink has them (RFC 5854 §4.2.10): each piece has the same length, and the last
/// one what is left.
public struct PieceDigests: Sendable, Hashable {
    /// Bytes of a piece; at least 1.
    public let length: Int64
    /// The digest of each piece in its order, all by one algorithm; never empty.
    public let digests: [Checksum]

    /// - Returns: `nil` for a length below 1, no digests, and digests by several algorithms.
    public init?(length: Int64, digests: [Checksum]) {
        guard length >= 1, let first = digests.first, digests.allSatisfy({ $0.algorithm == first.algorithm }),
            !Int64(digests.count).multipliedReportingOverflow(by: length).overflow
        else { return nil }
        self.length = length
        self.digests = digests
    }

    public var algorithm: DigestAlgorithm { digests[0].algorithm }

    /// The sizes that a file of these pieces can have.
    public var sizes: ClosedRange<Int64> {
        let most = Int64(digests.count) * length
        return most - length + 1...most
    }

    /// The bytes of a piece in a file of that size; `nil` where the file ends before the piece does.
    public func range(ofPiece number: Int, in size: Int64) -> Range<Int64>? {
        let start = Int64(number) * length
        let end = number == digests.count - 1 && sizes.contains(size) ? size : start + length
        return digests.indices.contains(number) && end <= size ? start..<end : nil
    }
}
