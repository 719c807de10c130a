/// The FNV-1a hash, 64 bits.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {
    }

    package mutating func add(_ text: String) {
        let isMixed: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            var value = value
            for byte in bytes { value = (value ^ UInt64(byte)) &* Self.prime }
            self.value = value
        }
        if isMixed == nil { for byte in text.utf8 { mix(byte) } }
        // The separator distinguishes "ab", "c" from "a", "bc".
        mix(0xFF)
    }

    package mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private mutating func mix(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* Self.prime }

    private static let prime: UInt64 = 0x100_0000_01B3
}
