import CTransferLinux
import Glibc
import TransferCore

/// The opening or making of partial files, with their locks.
///
/// An existing file is checked before it is opened, and again before it is locked. A foreign file is not written to,
/// and a FIFO or a device is not waited for.
struct PartOpener {
    /// The path for messages and records.
    let path: String
    let folder: PinnedFolder?
    /// The path by which system calls reach the name.
    private let place: String

    init(path: String, folder: PinnedFolder?) {
        self.path = path
        self.folder = folder
        place = folder.place(of: path)
    }

    func open(claim: PartOwnership.Claim) throws(TransferError) -> PartFile {
        for _ in 0..<16 {
            if let part = try makeNew() { return part }
            if let part = try openExisting(claim) { return part }
        }
        throw .locked(path)
    }

    /// Makes a new file: the usual case, with the fewest system calls.
    ///
    /// - Returns: `nil` where the name exists.
    private func makeNew() throws(TransferError) -> PartFile? {
        let descriptor = transfer_open(place, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else {
            let number = errno
            if number == EEXIST { return nil }
            throw RefusedName.error(path, place: place, number) ?? .file("open", path, number)
        }
        let code = transfer_lock(descriptor)
        guard code == 0 || code == ENOTSUP || code == ENOLCK else {
            // Another process opened and locked the file in between, and owns it.
            close(descriptor)
            return nil
        }
        return PartFile(
            path: path, in: folder, descriptor: descriptor, size: 0, record: nil,
            holdsRecords: PartRecord.mark(descriptor))
    }

    /// Opens an existing file.
    ///
    /// - Returns: `nil` when the name belongs to another file, or to none, by now.
    private func openExisting(_ claim: PartOwnership.Claim) throws(TransferError) -> PartFile? {
        var named = stat()
        guard lstat(place, &named) == 0 else {
            if errno == ENOENT { return nil }
            throw .file("look at", path, errno)
        }
        try require(ownership(named))
        let descriptor = transfer_open(place, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ELOOP { return nil }
            throw .file("open", path, errno)
        }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        var opened = stat()
        guard fstat(descriptor, &opened) == 0 else { throw .file("read", path, errno) }
        try require(ownership(opened))
        let code = transfer_lock(descriptor)
        guard code == 0 || code == ENOTSUP || code == ENOLCK else {
            throw code == EWOULDBLOCK ? .locked(path) : .file("lock", path, code)
        }
        // Between open and lock the other writer may have finished and renamed the file. Then the lock is on a finished
        // file, and the name is free.
        guard fstat(descriptor, &opened) == 0, lstat(place, &named) == 0, named.st_ino == opened.st_ino,
            named.st_dev == opened.st_dev
        else {
            _ = flock(descriptor, LOCK_UN)
            return nil
        }
        let bears = PartRecord.whatItBears(descriptor)
        let inode = UInt64(opened.st_ino)
        let verdict = PartOwnership.ofContent(size: Int64(opened.st_size), bears: bears, inode: inode, claim: claim)
        if verdict != .ours { _ = flock(descriptor, LOCK_UN) }
        try require(verdict)
        isKept = true
        let part = PartFile(
            path: path, in: folder, descriptor: descriptor, size: Int64(opened.st_size),
            record: opened.st_size > 0 ? PartRecord.read(descriptor) : nil,
            // A file with its own record may have begun anew since the queue's record was made.
            isClaimed: bears != .mark && PartOwnership.matches(claim, inode: inode, bears: bears),
            // Bytes that the queue's record describes stay with that record.
            holdsRecords: bears == .mark || opened.st_size == 0 && PartRecord.mark(descriptor))
        part.hasMap = access(SegmentLog.path(of: place), F_OK) == 0
        return part
    }

    private func require(_ ownership: PartOwnership) throws(TransferError) {
        guard case .foreign(let what) = ownership else { return }
        throw TransferError(
            .partNotOurs, "\(path) is \(what) and stays as it is; move it away, or name another destination")
    }

    private func ownership(_ status: stat) -> PartOwnership {
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        return .ofInode(
            mode: status.st_mode, links: UInt64(status.st_nlink),
            isOwn: status.st_uid == geteuid() || isRegular && status.st_uid == ownerOfNewFiles)
    }

    /// The owner of files that this process makes in the folder.
    var ownerOfNewFiles: UInt32? {
        guard let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = String(place[..<slash])
        var status = stat()
        var descriptor = transfer_open_unnamed(folder)
        if descriptor < 0 {
            let name = "\(folder)/.transfer-\(UInt64.random(in: .min ... .max)).part"
            descriptor = transfer_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return nil }
            unlink(name)
        }
        defer { close(descriptor) }
        return fstat(descriptor, &status) == 0 ? status.st_uid : nil
    }
}

extension TransferError {
    static func locked(_ path: String) -> TransferError {
        TransferError(.fileLocked, "\(path) is being written by another process", isTransient: true)
    }
}
