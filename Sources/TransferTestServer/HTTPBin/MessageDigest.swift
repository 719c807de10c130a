import Glibc

/// The digests of RFC 1321 and FIPS 180-4, for signatures and checks of clients. The implementation is slow, so it
/// suits only short texts.
enum MessageDigest {
    static func md5(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
        for block in blocks(message, length: { withUnsafeBytes(of: $0.littleEndian, Array.init) }) {
            let words = words(block).map(\.littleEndian)
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let mixed: UInt32
                let index: Int
                switch step / 16 {
                case 0: (mixed, index) = ((b & c) | (~b & d), step)
                case 1: (mixed, index) = ((d & b) | (~d & c), (5 * step + 1) % 16)
                case 2: (mixed, index) = (b ^ c ^ d, (3 * step + 5) % 16)
                default: (mixed, index) = (c ^ (b | ~d), 7 * step % 16)
                }
                let constant = UInt32(abs(sin(Double(step + 1))) * 4_294_967_296)
                let sum = a &+ mixed &+ constant &+ words[index]
                let shift = shifts[step / 16][step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
        }
        return state.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    }

    static func sha1(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in blocks(message, length: { withUnsafeBytes(of: $0.bigEndian, Array.init) }) {
            var words = words(block).map(\.bigEndian)
            for index in 16..<80 {
                words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 31))
            }
            var v = state
            for step in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch step / 20 {
                    case 0: ((v[1] & v[2]) | (~v[1] & v[3]), 0x5A82_7999)
                    case 1: (v[1] ^ v[2] ^ v[3], 0x6ED9_EBA1)
                    case 2: ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]), 0x8F1B_BCDC)
                    default: (v[1] ^ v[2] ^ v[3], 0xCA62_C1D6)
                    }
                let next = rotated(v[0], 27) &+ mixed &+ v[4] &+ constant &+ words[step]
                v = [next, v[0], rotated(v[1], 2), v[2], v[3]]
            }
            state = zip(state, v).map { $0 &+ $1 }
        }
        return state.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
    }

    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
        let constants = primes.map { fraction(cbrt(Double($0))) }
        for block in blocks(message, length: { withUnsafeBytes(of: $0.bigEndian, Array.init) }) {
            var words = words(block).map(\.bigEndian)
            for index in 16..<64 {
                let early = words[index - 15]
                let late = words[index - 2]
                words.append(
                    words[index - 16] &+ words[index - 7]
                        &+ (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3)
                        &+ (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10))
            }
            var v = state
            for step in 0..<64 {
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                let first =
                    v[7] &+ (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) &+ choice
                    &+ constants[step] &+ words[step]
                let second = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) &+ majority
                v = [first &+ second, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
            }
            state = zip(state, v).map { $0 &+ $1 }
        }
        return state.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
    }

    private static let primes = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }

    /// Returns the first 32 bits of the fraction; a Double represents these roots precisely enough.
    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func words(_ block: ArraySlice<UInt8>) -> [UInt32] {
        block.withUnsafeBytes { bytes in (0..<16).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) } }
    }

    /// Returns the padded blocks. All digests pad in the same way: a one bit, zeros, and the length in bits in eight
    /// bytes, whose order differs.
    private static func blocks(_ message: [UInt8], length: (UInt64) -> [UInt8]) -> [ArraySlice<UInt8>] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += length(UInt64(message.count) * 8)
        return stride(from: 0, to: padded.count, by: 64).map { padded[$0..<$0 + 64] }
    }
}
