import CTransferLinux
import Glibc
public import TransferCore

/// The note that a finished file bears of its download: where it came from, and how it was left.
///
/// The note is in extended attributes (`PartRecord`), so that it's there where no queue's record is: `transfer get`
/// forgets its batches, and a process can die between the file's name and the record.
public struct FileNote: Sendable, Hashable {
    public var validator: Validator?
    /// The resource that the validator is of; `nil` in notes of older versions.
    public var place: AnsweredPlace?
    /// The media type of the answer that brought it; `nil` in notes of older versions, and where the answer told none.
    public var mediaType: String?
    /// The content coding that the file has, where it has one.
    public var contentCoding: String?
    /// Whether nothing of the file has changed since it got its name, not even its mode. Otherwise only its size and time
    /// are as they were, which cp(1) and touch(1) can do to other bytes.
    public var isExact: Bool

    /// Reads the note of a file that looks as `stamp` says. Blocks: for workers.
    ///
    /// - Parameter url: Where it's to have come from, redacted: a validator means nothing to another URL.
    /// - Returns: `nil` for a file of unknown origin, and for one that was changed since.
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

    /// Writing down when the file got its name changes the inode too: so its last change lies a moment beside that.
    static func isItsNaming(changed: Int64?, named: Int64?) -> Bool {
        guard let changed, let named else { return false }
        return abs(changed - named) <= 1_000_000
    }
}
