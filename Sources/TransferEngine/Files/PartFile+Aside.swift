import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

// The bytes of a version that a newer one seems to have replaced. They are kept beside the newer one until that is
// whole.
//
// The newer version may come from a single faulty node, or never be complete.
extension PartFile {
    /// Returns the name of the bytes that were set aside for those of a partial file.
    static func asidePath(of path: String) -> String { NameLimit.appended(path, ".old") }

    /// Keeps the existing bytes under another name, and continues with an empty file under the same descriptor.
    ///
    /// Without a record of the bytes, or without a free name, the file is emptied instead.
    func setAside() throws(TransferError) {
        try beginAnew { () throws(TransferError) in
            if moveAside() { return }
            canHold.store(PartRecord.mark(descriptor), ordering: .relaxed)
            PartRecord.remove(descriptor)
            guard ftruncate(descriptor, 0) == 0 else { throw .file("truncate", path, errno) }
        }
        removeMap()
    }

    private func moveAside() -> Bool {
        guard PartRecord.read(descriptor) != nil else { return false }
        let (place, aside) = (place, Self.asidePath(of: place))
        var mine = stat()
        guard fstat(descriptor, &mine) == 0, mine.st_nlink == 1, has(path) else { return false }
        if let older = Self.look(aside) {
            // Files of other programs are not replaced. Of two discarded versions the longer one is worth more.
            guard older.record != nil, older.size <= Int64(mine.st_size) else { return false }
        } else if access(aside, F_OK) == 0 {
            return false
        }
        guard Glibc.rename(place, aside) == 0 else { return false }
        let fresh = transfer_open(place, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mine.st_mode & 0o777)
        guard fresh >= 0 else {
            Glibc.rename(aside, place)
            return false
        }
        guard PartRecord.mark(fresh) else {
            close(fresh)
            Glibc.rename(aside, place)
            return false
        }
        // The lock belongs to the open file behind the descriptor, so the new file is locked first.
        _ = transfer_lock(fresh)
        guard transfer_replace_descriptor(fresh, descriptor) >= 0 else {
            close(fresh)
            Glibc.rename(aside, place)
            return false
        }
        close(fresh)
        knownAside.withLock { $0 = true }
        return true
    }

    /// The bytes that were set aside for this file; `nil` when there are none. The property blocks: it is meant for
    /// workers.
    ///
    /// Once none were found, only this file itself can set some aside.
    public var aside: (size: Int64, record: ResumeData)? {
        knownAside.withLock { known in
            if known == false { return nil }
            guard let found = Self.look(Self.asidePath(of: place)), let record = found.record, found.size > 0 else {
                known = false
                return nil
            }
            return (found.size, record)
        }
    }

    /// Restores bytes that were set aside, where this file has nothing more valuable. This value is then unusable: the
    /// file must be opened again.
    ///
    /// - Returns: Whether that was possible.
    public func restoreAside() -> Bool {
        let place = place
        guard aside != nil, has(path), Glibc.rename(Self.asidePath(of: place), place) == 0 else { return false }
        unlock()
        return true
    }

    /// Removes the bytes that were set aside: the version that replaced them is whole.
    public func removeAside() {
        if aside != nil { unlink(Self.asidePath(of: place)) }
    }
}
