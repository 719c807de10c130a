import CTransferLinux
import Glibc
public import TransferCore

extension PartFile {
    /// What stands in a partial file, without its lock: another process may be writing to it. Blocks.
    ///
    /// - Returns: `nil` when there is none.
    public static func look(_ path: String) -> (size: Int64, record: ResumeData?)? {
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return (Int64(status.st_size), PartRecord.read(descriptor))
    }
}
