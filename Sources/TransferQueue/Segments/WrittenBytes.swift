import TransferCore
import TransferEngine

/// The check that a partial file still has the bytes that were written to it.
///
/// Another program may shorten the file while it is being written. Later writes then leave a hole before them, which
/// reads as zeros, and the bytes that came prove nothing of it.
enum WrittenBytes {
    /// Compares the length, looks for a hole, and reads the file only where there is one. Blocks: for workers.
    ///
    /// - Parameter length: The bytes that were written.
    /// - Throws: `checksumMismatch`, transient; the partial file is removed then.
    static func check(_ part: PartFile, length: Int64) throws(TransferError) {
        let size = try part.facts().size
        guard size == length else {
            throw changed(part, "has \(CountText.bytes(size)), and \(length) were written to it")
        }
        guard let hole = part.firstHole(before: length) else { return }
        if let written = part.sums.list(of: size) {
            guard try FileReading.sums(part.readablePath) != written else { return }
        } else if part.storesZerosAsHoles {
            return
        }
        throw changed(part, "lost the bytes from \(hole) on")
    }

    private static func changed(_ part: PartFile, _ what: String) -> TransferError {
        part.remove()
        return TransferError(
            .checksumMismatch, "\(part.path) \(what): another program changed it", isTransient: true)
    }
}
