import CTransferLinux
import Glibc
public import TransferCore

/// The record in a finished file about its download: its source, and its state at the end.
///
/// The record is in extended attributes (`PartRecord`), so that it exists without a queue's record. `transfer get`
/// forgets its batches, and a process can die between the naming of the file and the queue's record.
public struct FileNote: Sendable, Hashable {
    /// The validator of the file, if the server gave one.
    public var validator: Validator?
    /// The resource to which the validator belongs; `nil` in records of older versions.
    public var place: AnsweredPlace?
    /// The media type of the answer that brought the file; `nil` in records of older versions, and where the answer
    /// named none.
    public var mediaType: String?
    /// The content coding of the file, where it has one.
    public var contentCoding: String?
    /// Whether the file is entirely unchanged since it got its name, even in its mode.
    ///
    /// A value of `false` means that only the size and the time are unchanged; cp(1) and touch(1) can produce them for
    /// other bytes.
    public var isExact: Bool

    /// Reads the record of a file with this stamp. The call blocks: it is meant for workers.
    ///
    /// - Parameter url: The expected source, redacted: a validator means nothing to another URL.
    /// - Returns: `nil` for a file of unknown source, and for one that was changed since.
    public static func read(_ path: String, _ stamp: FileStamp, from url: String) -> FileNote? {
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let record = PartRecord.read(descriptor), record.url == url, let total = record.total else { return nil }
        let date = record.validator?.lastModified.flatMap { HTTPDate.parse($0) }
        let noted = PartRecord.readTime(descriptor) ?? date.map { FileStamp.nanoseconds(seconds: $0) }
        guard let noted, FileStamp(size: total, modified: noted).isSameVersion(as: stamp) else { return nil }
        let isExact = isItsNaming(changed: stamp.changed, named: PartRecord.readNaming(descriptor))
        return FileNote(
            validator: record.validator, place: record.place, mediaType: record.mediaType,
            contentCoding: record.contentCoding, isExact: isExact)
    }

    /// Returns whether the inode's last change is the naming itself. Recording the time of the naming changes the inode
    /// a moment later.
    static func isItsNaming(changed: Int64?, named: Int64?) -> Bool {
        guard let changed, let named else { return false }
        return abs(changed - named) <= 1_000_000
    }
}
