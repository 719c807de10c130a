/// A writer of pictures in the Portable Network Graphics format (RFC 2083), so that the repository needs no binary
/// file.
enum PNG {
    /// Returns a picture with eight bits each of red, green and blue; the size is at most 255 by 255.
    static func gradient(width: UInt8, height: UInt8) -> [UInt8] {
        let rows = (0..<height).flatMap { y -> [UInt8] in
            // The first byte of each row is its filter: none.
            [0] + (0..<width).flatMap { x in [x &* 4, y &* 5, 128] }
        }
        let header: [UInt8] = [0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header) + chunk("IDAT", Zlib.stored(rows)) + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(Checksum.crc32(content))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
}
