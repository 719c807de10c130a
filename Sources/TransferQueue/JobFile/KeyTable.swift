/// The keys that one kind of object may have, found by their bytes without making a string of them.
struct KeyTable<Key: RawRepresentable<String> & Sendable>: Sendable {
    let keys: [Key]
    private let packed: [UInt128]

    init(_ keys: [Key]) {
        self.keys = keys
        packed = keys.map { key in
            var name = key.rawValue
            guard let packed = name.withUTF8({ Self.pack($0) }) else {
                // A mistake of whoever names a key, which the first reading of any file shows.
                preconditionFailure("the key \(name) has more than 16 bytes")
            }
            return packed
        }
    }

    var names: [String] { keys.map(\.rawValue) }

    @inline(__always)
    func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let wanted = Self.pack(name) else { return nil }
        return packed.firstIndex(of: wanted)
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
