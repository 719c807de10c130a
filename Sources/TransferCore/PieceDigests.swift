/// The digests of a file's pieces, as in Metalink (RFC 5854 §4.2.10): all pieces have the same length, except for a
/// shorter last one.
public struct PieceDigests: Sendable, Hashable {
    /// The length of a piece in bytes; at least 1.
    public let length: Int64
    /// The digests of the pieces in their order, all by one algorithm; never empty.
    public let digests: [Checksum]

    /// Creates a list.
    ///
    /// - Returns: `nil` for a length below 1, without digests, and for digests by several algorithms.
    public init?(length: Int64, digests: [Checksum]) {
        guard length >= 1, let first = digests.first, digests.allSatisfy({ $0.algorithm == first.algorithm }),
            !Int64(digests.count).multipliedReportingOverflow(by: length).overflow
        else { return nil }
        self.length = length
        self.digests = digests
    }

    /// The algorithm of the digests.
    public var algorithm: DigestAlgorithm { digests[0].algorithm }

    /// The possible sizes in bytes of a file with these pieces.
    public var sizes: ClosedRange<Int64> {
        let most = Int64(digests.count) * length
        return most - length + 1...most
    }

    /// Returns the bytes of a piece in a file of this size; `nil` where the file ends before the piece does.
    public func range(ofPiece number: Int, in size: Int64) -> Range<Int64>? {
        let start = Int64(number) * length
        let end = number == digests.count - 1 && sizes.contains(size) ? size : start + length
        return digests.indices.contains(number) && end <= size ? start..<end : nil
    }
}
