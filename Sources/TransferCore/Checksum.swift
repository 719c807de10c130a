/// The digest algorithms a file can be verified with.
public enum DigestAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    case sha256, sha512, sha1, md5

    /// The length of the digest in bytes.
    public var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha512: 64
        case .sha1: 20
        case .md5: 16
        }
    }
}

/// The digest that the bytes of a file must have: `sha256:9f86d08…`.
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    public let algorithm: DigestAlgorithm
    /// Lower-case hexadecimal, always of the algorithm's full length.
    public let hex: String

    /// - Returns: `nil` when `hex` is not the algorithm's length in hexadecimal digits (of either case).
    public init?(_ algorithm: DigestAlgorithm, hex: some StringProtocol) {
        let lower = hex.lowercased()
        guard lower.utf8.count == algorithm.byteCount * 2, lower.utf8.allSatisfy(Self.isHexDigit) else { return nil }
        self.algorithm = algorithm
        self.hex = lower
    }

    /// Reads `algorithm:hex`, also with aria2's spelling `sha-256=hex`.
    public init?(_ text: some StringProtocol) {
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let name = text[..<separator].lowercased().filter { $0 != "-" }
        guard let algorithm = DigestAlgorithm(rawValue: name) else { return nil }
        self.init(algorithm, hex: text[text.index(after: separator)...])
    }

    /// - Throws: `invalidRequest` when `hex` is no SHA-256 digest.
    public static func sha256(_ hex: String) throws(TransferError) -> Checksum {
        guard let checksum = Checksum(.sha256, hex: hex) else {
            throw TransferError(.invalidRequest, "\(hex.debugDescription) is no SHA-256 digest in hexadecimal")
        }
        return checksum
    }

    public var description: String { "\(algorithm.rawValue):\(hex)" }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
