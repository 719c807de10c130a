import Glibc

extension String {
    /// Returns whether the text's UTF-8 contains the byte. It uses memchr(3), since every path and URL is checked.
    public func hasByte(_ byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }
}
