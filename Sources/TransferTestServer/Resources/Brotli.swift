/// A writer of valid brotli streams of uncompressed meta-blocks (RFC 7932, section 9.2).
enum Brotli {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + 65536, bytes.count)
            // The header's bits are, from the lowest: ISLAST 0, MNIBBLES 0 (four follow), MLEN - 1, ISUNCOMPRESSED 1.
            var head = UInt32(end - start - 1) << 3 | 1 << 19
            // The window size comes before the first meta-block: a single bit, 0 for 16 bits.
            if start == 0 { head <<= 1 }
            stream += (0..<3).map { UInt8(truncatingIfNeeded: head >> (8 * $0)) }
            stream += bytes[start..<end]
            start = end
        }
        // The stream ends with ISLAST and ISLASTEMPTY, after the window size where nothing precedes them.
        return stream + [bytes.isEmpty ? 0b110 : 0b11]
    }
}
