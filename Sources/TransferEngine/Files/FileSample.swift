import CTransferLinux
import Glibc

/// The first bytes of a file, by which an HTML page is distinguished from other files.
public enum FileSample {
    private static let length = 1024

    /// Returns whether the file begins with bytes that no text has; `false` for an unreadable file.
    ///
    /// The call blocks: it is meant for workers.
    public static func isBinary(_ path: String) -> Bool {
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 && isBinary(bytes[..<count])
    }

    /// Returns whether bytes belong to no text: they have a zero, or another control character that no text has.
    ///
    /// A byte order mark of UTF-16 begins a text, whose zeros do not count.
    static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        let start = Array(bytes.prefix(2))
        if start == [0xFF, 0xFE] || start == [0xFE, 0xFF] { return false }
        return bytes.contains { $0 < 0x20 && !(0x07...0x0D).contains($0) && $0 != 0x1B }
    }
}
