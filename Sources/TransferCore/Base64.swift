/// Base64 with its standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the bytes in Base64, with padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        func flush() {
            let bits = group << UInt32(8 * (3 - held))
            for place in 0..<4 {
                text.append(place > held ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)])
            }
            group = 0
            held = 0
        }
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 { flush() }
        }
        if held > 0 { flush() }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text.
    ///
    /// - Returns: `nil` for text that `encode(_:)` would not have made: other characters, wrong padding, stray bits.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        var bits: UInt32 = 0
        var held = 0
        for character in characters.dropLast(padding) {
            guard let value = value(character) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        guard bits & ((1 << UInt32(held)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character - 0x41)
        case 0x61...0x7A: UInt32(character - 0x61) + 26
        case 0x30...0x39: UInt32(character - 0x30) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension Checksum {
    /// Creates a checksum from the bytes of a digest.
    ///
    /// - Returns: `nil` where their number is not that of the algorithm.
    public init?(_ algorithm: DigestAlgorithm, bytes: some Collection<UInt8>) {
        self.init(algorithm, hex: Hexadecimal.encode(bytes))
    }

    /// The bytes of the digest; their number is the algorithm's `byteCount`.
    public var bytes: [UInt8] { Hexadecimal.decode(hex) ?? [] }

    /// The digest in Base64, as in Content-MD5, `x-amz-checksum-sha256` and tus's Upload-Checksum.
    public var base64: String { Base64.encode(bytes) }
}
