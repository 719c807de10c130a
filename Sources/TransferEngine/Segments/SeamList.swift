import Glibc
import Synchronization
import TransferCore

/// The bytes before the beginnings of a file's parts, as the connections of those parts brought them.
///
/// An FTP server may agree to begin in the middle (350 to REST), and still send the file from its beginning. Only these
/// bytes reveal that.
public final class SeamList: Sendable {
    private let seams = Mutex<[(end: Int64, bytes: [UInt8])]>([])

    func add(_ bytes: [UInt8], before end: Int64) { seams.withLock { $0.append((end, bytes)) } }

    /// Compares a complete file with the bytes. The call blocks: it is meant for workers.
    ///
    /// - Returns: The offset of the first part that is not the requested one.
    public func firstWrong(in descriptor: Int32) -> Int64? {
        seams.withLock { $0 }.sorted { $0.end < $1.end }.first { seam in
            var found = [UInt8](repeating: 0, count: seam.bytes.count)
            let count = pread(descriptor, &found, found.count, off_t(seam.end) - off_t(found.count))
            return count != found.count || found != seam.bytes
        }?.end
    }
}
