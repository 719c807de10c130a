/// The keys of one kind of object, found by their bytes without making a string.
package struct KeyTable<Key: Sendable>: Sendable {
    package let keys: [Key]
    package let names: [String]
    private let packed: [UInt128]

    /// Creates a table.
    ///
    /// - Parameter name: A closure that returns the key as the file spells it.
    package init(_ keys: [Key], name: (Key) -> String) {
        // More keys than bits are a mistake in the table, which the reading of any file reveals: each present key has
        // its own bit.
        precondition(keys.count <= UInt64.bitWidth, "an object has too many keys: \(keys.count)")
        self.keys = keys
        names = keys.map(name)
        packed = names.map { name in
            var name = name
            guard let packed = name.withUTF8({ Self.pack($0) }) else {
                preconditionFailure("the key \(name) has more than 16 bytes")
            }
            return packed
        }
    }

    @inline(__always)
    package func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let wanted = Self.pack(name) else { return nil }
        return packed.firstIndex(of: wanted)
    }

    /// Returns the bit of a key in the result of ``JobDecoder/object(_:place:isSecret:_:)``; 0 for a key that is not in
    /// the table.
    package func bit(of name: String) -> UInt64 { names.firstIndex(of: name).map { 1 << UInt64($0) } ?? 0 }

    /// Returns the bits of all keys that match.
    package func bits(where matches: (Key) -> Bool) -> UInt64 {
        keys.indices.reduce(0) { matches(keys[$1]) ? $0 | 1 << UInt64($1) : $0 }
    }

    /// Packs a name into an integer of 16 bytes, which compares at once; no key is longer.
    @inline(__always)
    private static func pack(_ name: UnsafeBufferPointer<UInt8>) -> UInt128? {
        guard name.count > 0, name.count <= 16 else { return nil }
        var result: UInt128 = 0
        for byte in name { result = result << 8 | UInt128(byte) }
        return result
    }
}

extension KeyTable where Key: RawRepresentable<String> {
    package init(_ keys: [Key]) { self.init(keys) { $0.rawValue } }
}
