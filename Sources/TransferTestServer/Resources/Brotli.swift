/// A valid brotli stream of uncompressed meta-blocks (RFC 7932, section 9.2).
enum Brotli {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + 65536, bytes.count)
            // ISLAST 0, MNIBBLES 0 (four follow), MLEN - 1, ISUNCOMPRESSED 1, from the lowest bit upwards.
            var head = UInt32(end - start - 1) << 3 | 1 << 19
            // The window's size comes before the first of them: one bit, 0 for 16 bits.
            if start == 0 { head <<= 1 }
            stream += (0..<3).map { UInt8(truncatingIfNeeded: head >> (8 * $0)) }
            stream += bytes[start..<end]
            start = end
        }
        // ISLAST and ISLASTEMPTY, after the window's size when nothing came before.
        return stream + [bytes.isEmpty ? 0b110 : 0b11]
    }
}
