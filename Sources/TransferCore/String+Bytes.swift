import Glibc

extension String {
    /// Whether the text's UTF-8 has that byte. By memchr(3), as it's asked of every path and URL.
    public func hasByte(_ byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }
}
