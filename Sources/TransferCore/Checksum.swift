/// The digest algorithms that can verify a file.
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

/// The required digest of a file's bytes: `sha256:9f86d08…`.
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    /// The algorithm of the digest.
    public let algorithm: DigestAlgorithm
    /// The digest in lower-case hexadecimal digits, always with the algorithm's full length.
    public let hex: String

    /// Creates a checksum.
    ///
    /// - Returns: `nil` where `hex` does not have the algorithm's number of hexadecimal digits (in either case).
    public init?(_ algorithm: DigestAlgorithm, hex: some StringProtocol) {
        let lower = hex.lowercased()
        guard lower.utf8.count == algorithm.byteCount * 2, lower.utf8.allSatisfy(Self.isHexDigit) else { return nil }
        self.algorithm = algorithm
        self.hex = lower
    }

    /// Parses `algorithm:hex`, or aria2's spelling `sha-256=hex`.
    public init?(_ text: some StringProtocol) {
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let name = text[..<separator].lowercased().filter { $0 != "-" }
        guard let algorithm = DigestAlgorithm(rawValue: name) else { return nil }
        self.init(algorithm, hex: text[text.index(after: separator)...])
    }

    /// Creates a SHA-256 checksum.
    ///
    /// - Throws: `invalidRequest` where `hex` is no SHA-256 digest.
    public static func sha256(_ hex: String) throws(TransferError) -> Checksum {
        guard let checksum = Checksum(.sha256, hex: hex) else {
            throw TransferError(.invalidRequest, "\(hex.debugDescription) is no SHA-256 digest in hexadecimal")
        }
        return checksum
    }

    /// The checksum as `algorithm:hex`.
    public var description: String { "\(algorithm.rawValue):\(hex)" }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
