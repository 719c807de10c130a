import CTransferOpenSSL
public import TransferCore

/// The computation of a digest whose state can be stored, and continued in another process on the same machine.
public struct DurableDigest: Sendable, Hashable {
    /// The algorithm of the digest.
    public let algorithm: DigestAlgorithm
    /// The number of bytes added so far.
    public private(set) var count: Int64 = 0
    private var state = transfer_durable_digest()

    /// Begins a computation.
    public init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        transfer_durable_digest_begin(&state, Self.kind(algorithm))
    }

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        transfer_durable_digest_update(&state, bytes.baseAddress, bytes.count)
        count += Int64(bytes.count)
    }

    /// The digest of the bytes added so far.
    public var checksum: Checksum? {
        var (last, result) = (state, [UInt8](repeating: 0, count: 64))
        transfer_durable_digest_finish(&last, &result)
        return Checksum(algorithm, bytes: result.prefix(algorithm.byteCount))
    }

    private static func kind(_ algorithm: DigestAlgorithm) -> transfer_digest_kind {
        switch algorithm {
        case .sha256: TRANSFER_SHA256
        case .sha512: TRANSFER_SHA512
        case .sha1: TRANSFER_SHA1
        case .md5: TRANSFER_MD5
        }
    }

    private var bytes: [UInt8] { withUnsafeBytes(of: state.state) { [UInt8]($0) } }

    public static func == (one: DurableDigest, other: DurableDigest) -> Bool {
        one.algorithm == other.algorithm && one.count == other.count && one.bytes == other.bytes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(algorithm)
        hasher.combine(count)
    }
}

extension DurableDigest: Codable {
    private enum CodingKeys: String, CodingKey {
        case algorithm, count, state
    }

    /// Restores a computation.
    ///
    /// - Throws: `DecodingError` for a state of another machine or another OpenSSL.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try values.decode(DigestAlgorithm.self, forKey: .algorithm))
        let bytes = Hexadecimal.decode(try values.decode(String.self, forKey: .state)) ?? []
        // The state comes from another machine or another OpenSSL.
        guard bytes.count == MemoryLayout.size(ofValue: state.state) else {
            throw DecodingError.dataCorruptedError(
                forKey: .state, in: values, debugDescription: "no state of this machine's OpenSSL")
        }
        withUnsafeMutableBytes(of: &state.state) { $0.copyBytes(from: bytes) }
        count = try values.decode(Int64.self, forKey: .count)
    }

    /// Encodes the state of the computation.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(algorithm, forKey: .algorithm)
        try values.encode(count, forKey: .count)
        try values.encode(Hexadecimal.encode(bytes), forKey: .state)
    }
}
