import Glibc

// By bytes, and not by characters: this is done for every request, and an ASCII byte is never part of another character.
extension String {
    /// Where a byte comes first, in bytes.
    public func utf8Offset(of byte: UInt8) -> Int? {
        withContiguousUTF8 { bytes in
            guard let start = bytes.baseAddress else { return nil }
            return memchr(start, Int32(byte), bytes.count).map { UnsafeRawPointer($0) - UnsafeRawPointer(start) }
        }
    }

    /// How long scheme and authority of an absolute URL are (RFC 3986 §3), in bytes.
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

    /// Whether it begins with these bytes.
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
