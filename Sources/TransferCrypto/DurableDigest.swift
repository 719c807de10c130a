import CTransferOpenSSL
public import TransferCore

/// A digest being computed, whose state can be written down and gone on with in another process on the same machine.
public struct DurableDigest: Sendable, Hashable {
    public let algorithm: DigestAlgorithm
    /// Bytes that are in it.
    public private(set) var count: Int64 = 0
    private var state = transfer_durable_digest()

    public init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        transfer_durable_digest_begin(&state, Self.kind(algorithm))
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        transfer_durable_digest_update(&state, bytes.baseAddress, bytes.count)
        count += Int64(bytes.count)
    }

    /// The digest of what is in it so far.
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

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try values.decode(DigestAlgorithm.self, forKey: .algorithm))
        let bytes = Hexadecimal.decode(try values.decode(String.self, forKey: .state)) ?? []
        // The state is of another machine or of another OpenSSL.
        guard bytes.count == MemoryLayout.size(ofValue: state.state) else {
            throw DecodingError.dataCorruptedError(
                forKey: .state, in: values, debugDescription: "no state of this machine's OpenSSL")
        }
        withUnsafeMutableBytes(of: &state.state) { $0.copyBytes(from: bytes) }
        count = try values.decode(Int64.self, forKey: .count)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(algorithm, forKey: .algorithm)
        try values.encode(count, forKey: .count)
        try values.encode(Hexadecimal.encode(bytes), forKey: .state)
    }
}
