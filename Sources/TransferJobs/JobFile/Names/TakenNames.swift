/// A set of hashes of eight bytes, with as much room again for growth. It can compare the names of a list of a million
/// jobs.
package struct TakenNames {
    private var slots: [UInt64]
    private var count = 0

    package init() { slots = Array(repeating: 0, count: 64) }

    /// The memory in use, in bytes.
    package var bytes: Int { slots.count * MemoryLayout<UInt64>.stride }

    /// Inserts a hash.
    ///
    /// - Returns: Whether the hash is new.
    package mutating func insert(_ hash: UInt64) -> Bool {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        guard Self.put(Self.spread(hash), into: &slots) else { return false }
        count += 1
        return true
    }

    package func contains(_ hash: UInt64) -> Bool {
        let (value, mask) = (Self.spread(hash), slots.count - 1)
        var index = Int(truncatingIfNeeded: value) & mask
        while slots[index] != 0 {
            if slots[index] == value { return true }
            index = (index + 1) & mask
        }
        return false
    }

    private static func put(_ value: UInt64, into slots: inout [UInt64]) -> Bool {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: value) & mask
        while slots[index] != 0 {
            if slots[index] == value { return false }
            index = (index + 1) & mask
        }
        slots[index] = value
        return true
    }

    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: slots.count * 2)
        for value in slots where value != 0 { _ = Self.put(value, into: &larger) }
        slots = larger
    }

    /// Mixes the bits, since the low bits of FNV-1a depend little on the last bytes. Zero marks a free slot.
    private static func spread(_ hash: UInt64) -> UInt64 {
        var value = hash
        value = (value ^ value >> 33) &* 0xFF51_AFD7_ED55_8CCD
        value = (value ^ value >> 33) &* 0xC4CE_B9FE_1A85_EC53
        value ^= value >> 33
        return value == 0 ? 1 : value
    }
}
