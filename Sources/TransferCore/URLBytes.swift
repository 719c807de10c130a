import Glibc

// The functions work on bytes rather than characters, since they run for every request. An ASCII byte is never part of
// another character.
extension String {
    /// Returns the offset of the first occurrence of a byte, in bytes; `nil` for none.
    public func utf8Offset(of byte: UInt8) -> Int? {
        withContiguousUTF8 { bytes in
            guard let start = bytes.baseAddress else { return nil }
            return memchr(start, Int32(byte), bytes.count).map { UnsafeRawPointer($0) - UnsafeRawPointer(start) }
        }
    }

    /// The length of the scheme and authority of an absolute URL (RFC 3986 §3), in bytes.
    public var lengthThroughAuthority: Int {
        withContiguousUTF8 { bytes in
            var slashes = 0
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "/") { slashes += 1 }
                if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return index }
            }
            return bytes.count
        }
    }

    /// Returns whether the text begins with these bytes.
    public func hasUTF8Prefix(_ prefix: [UInt8]) -> Bool {
        withContiguousUTF8 { bytes in
            guard let start = bytes.baseAddress, bytes.count >= prefix.count else { return prefix.isEmpty }
            return memcmp(start, prefix, prefix.count) == 0
        }
    }

    private func withContiguousUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}
