/// The keys that one kind of object may have, found by their bytes without making a string of them.
package struct KeyTable<Key: Sendable>: Sendable {
    package let keys: [Key]
    package let names: [String]
    private let packed: [UInt128]

    /// - Parameter name: The key as the file has it.
    package init(_ keys: [Key], name: (Key) -> String) {
        // A mistake of the table's author, which the first reading of any file shows: a bit stands for each key that was
        // there.
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

    /// The bit that stands for a key in what ``JobDecoder/object(_:place:isSecret:_:)`` says of an object; 0 for a key that
    /// isn't in the table.
    package func bit(of name: String) -> UInt64 { names.firstIndex(of: name).map { 1 << UInt64($0) } ?? 0 }

    /// The bits of all keys that are so.
    package func bits(where matches: (Key) -> Bool) -> UInt64 {
        keys.indices.reduce(0) { matches(keys[$1]) ? $0 | 1 << UInt64($1) : $0 }
    }

    /// No key is longer than the 16 bytes of an integer, which compares at once.
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
