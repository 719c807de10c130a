import CTransferLinux
import Glibc
import Synchronization
public import TransferCore
import TransferEventLoop

// The naming of files. A process that may write to the folder can give a name to another file between two of our calls.
// So names are given through the descriptor, or checked before and after.
extension PartFile {
    /// Whether the file has a name, so that other processes, and later attempts, can find it.
    public var isNamed: Bool { hasName.withLock { $0 } }

    /// The path by which this very file can be opened again, even if another file has its name.
    public var readablePath: String { Self.canNameLater ? "/proc/self/fd/\(descriptor)" : place }

    /// The path by which system calls reach the name.
    var place: String { folder.place(of: path) }

    /// The number of the file's inode; 0 when the system does not report it.
    var inode: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Gives an unnamed file its `NAME.part`, locked from the first moment on.
    ///
    /// - Throws: `fileLocked` when the name has been taken meanwhile.
    func ensureNamed() throws(TransferError) {
        try hasName.withLock { (hasName) throws(TransferError) in
            guard !hasName else { return }
            _ = transfer_lock(descriptor)
            canHold.store(PartRecord.mark(descriptor), ordering: .relaxed)
            let code = transfer_name(descriptor, place)
            guard code == 0 else { throw code == EEXIST ? .locked(path) : .file("name", path, code) }
            hasName = true
        }
    }

    /// Restricts the access while the file is written to that of the file that it is to replace.
    ///
    /// - Parameter destination: The path of the file that is to be replaced.
    public func restrictAccess(like destination: String) {
        ReplacedAccess(of: folder.place(of: destination))?.restrict(descriptor)
    }

    /// Restricts the access to the file's owner, for a file whose destination is not known yet: the file that it will
    /// replace may be private.
    public func restrictAccess() {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        fchmod(descriptor, status.st_mode & 0o700)
    }

    /// Gives the complete file the access of the file that it replaces, or else that of a new file.
    ///
    /// - Parameter replaced: The path of the file that is to be replaced; `nil` where none is.
    public func openAccess(replacing replaced: String?) {
        if let access = replaced.flatMap({ ReplacedAccess(of: folder.place(of: $0)) }) {
            return access.give(to: descriptor)
        }
        guard let mode = Self.modeOfNewFiles(beside: place) else { return }
        fchmod(descriptor, mode)
    }

    /// Returns the mode that the process's umask, and the folder's access list, give a new file; `nil` where the folder
    /// takes none.
    private static func modeOfNewFiles(beside place: String) -> mode_t? {
        let parent = place.lastIndex(of: "/").map { String(place[...$0]) } ?? ""
        let name = "\(parent).transfer-\(UInt64.random(in: .min ... .max)).part"
        let probe = transfer_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard probe >= 0 else { return nil }
        defer { close(probe) }
        unlink(name)
        var status = stat()
        return fstat(probe, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// Gives the file its final name.
    ///
    /// - Parameter replacing: Whether an existing file of that name, or a symbolic link (not its target), is replaced.
    ///   The new file gets the mode of that file.
    /// - Throws: `fileExists` when the name exists and `replacing` is false; `partNotOurs` when another file has taken
    ///   the partial file's name meanwhile, or when ours got a second one.
    public func rename(to destination: String, replacing: Bool) throws(TransferError) {
        let goal = folder.place(of: destination)
        if !isNamed, !replacing {
            let code = transfer_name(descriptor, goal)
            guard code == 0 else { throw .renaming(path, to: destination, code) }
            return
        }
        try ensureNamed()
        guard has(path) else { throw swapped }
        // The owner of the second name could change the finished file by it.
        guard links == 1 else { throw shared }
        if replacing {
            ReplacedAccess(of: goal)?.give(to: descriptor)
            guard Glibc.rename(place, goal) == 0 else {
                let code = errno
                // The next attempt continues only a file of its own user.
                fchown(descriptor, geteuid(), .max)
                throw .renaming(path, to: destination, code)
            }
            guard has(destination) else { throw swapped }
            return
        }
        let code = transfer_rename_new(place, goal)
        if code == 0, !has(destination), !looksLike(destination) {
            // The file was swapped between the check and the renaming: the foreign file gets its name back.
            _ = transfer_rename_new(goal, place)
            throw swapped
        }
        guard code == 0 else { throw .renaming(path, to: destination, code) }
    }

    /// Records in the finished file the time when it got its name.
    ///
    /// As long as the last change of its inode is that moment, no other process has written to it, regardless of its
    /// time.
    public func noteNaming() {
        // Attributes of a file that its owner may not write cannot be set, even by an open descriptor.
        var status = stat()
        let mode = fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let isReadOnly = mode & S_IWUSR == 0
        var named = WallClock.nanoseconds
        // The kernel's stamps are up to a tick behind the clock, or exact once a process has read them. The last stamp
        // is the best guess of the next one. A thread that is descheduled between the two misses it, and tries again.
        for _ in 0..<16 {
            if isReadOnly { fchmod(descriptor, mode | S_IWUSR) }
            PartRecord.writeNaming(named, to: descriptor)
            if isReadOnly { fchmod(descriptor, mode) }
            guard let changed = try? facts().changed else { return }
            if FileNote.isItsNaming(changed: changed, named: named) { return }
            named = changed
        }
    }

    /// Removes the partial file's name, unless it belongs to another file by now.
    public func remove() {
        removeMap()
        if isNamed, has(path) { unlink(place) }
    }

    /// Returns whether that name in the file's folder belongs to this very file.
    func has(_ name: String) -> Bool {
        var (named, opened) = (stat(), stat())
        return lstat(folder.place(of: name), &named) == 0 && fstat(descriptor, &opened) == 0
            && named.st_ino == opened.st_ino
            && named.st_dev == opened.st_dev
    }

    /// Returns whether that name belongs to this file by its size, time and owner, where FUSE invents an inode number
    /// for each name (sshfs).
    private func looksLike(_ name: String) -> Bool {
        let place = folder.place(of: name)
        guard let slash = place.lastIndex(of: "/"), transfer_is_fuse(String(place[...slash])) == 1 else { return false }
        var (named, opened) = (stat(), stat())
        transfer_refresh_status(place)
        return lstat(place, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_mode == opened.st_mode
            && named.st_uid == opened.st_uid && FileStamp(named).size == FileStamp(opened).size
            && FileStamp(named).modified == FileStamp(opened).modified
    }

    private var links: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_nlink) : 0
    }

    private var shared: TransferError {
        TransferError(
            .partNotOurs, "\(path) got another name while it was written, so that others can change it; it stays there",
            isTransient: true)
    }

    private var swapped: TransferError {
        TransferError(
            .partNotOurs, "\(path) is no longer the file that was written: it was moved, removed or replaced",
            isTransient: true)
    }
}
