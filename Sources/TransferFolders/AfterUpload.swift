import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
import TransferWatch

/// The moving or deletion of an uploaded file that is still the uploaded version. Blocks, so it belongs on a worker
/// thread.
///
/// The file first gets a hidden name in its own folder, derived from its row in the upload history. Under that name, no
/// other process replaces it between its check and the action, and a process after a crash finds it again.
package struct AfterUpload {
    package enum Outcome: Sendable, Hashable {
        case deleted
        case moved(to: String)
        /// The path has no file, or another version.
        case notThere
        /// The file was written since, with its size and time restored, so that its bytes were never sent.
        case rewritten
        /// The file is kept, because the rules no longer ask for another action.
        case kept
        case stays(TransferError)
        /// The watched folder cannot be reached.
        case noFolder
        /// The file is left as it was found, for a later process.
        case stopped
    }

    package let row: HistoryRow
    package let root: String
    package let then: WatchSpec.Then
    /// A function that is called while a file is copied, which may take long.
    package var isStopped: @Sendable () -> Bool = { false }

    private var version: FileVersion { row.version }
    private var inode: UInt64 { version.stamp.inode ?? 0 }
    private var name: String { WatchedPath.name(version.path) }
    package var hiddenName: String { Self.hiddenName(of: row) }

    /// Returns the hidden name. No program creates such a name by chance, and the watcher ignores dot files.
    package static func hiddenName(of row: HistoryRow) -> String {
        ".transfer-\(row.id)-\(row.version.stamp.inode ?? 0)"
    }

    package struct Result: Sendable {
        package let outcome: Outcome
        /// Whether the file has other names too.
        package var hasOtherNames = false
        /// Whether the same file is there but has changed since.
        package var isChanged = false
        /// The time when it got its name back, which changes no bytes (`st_ctim`, in nanoseconds since 1970).
        package var givenBack: Int64?
    }

    package func run(_ places: FolderPlaces) -> Result {
        guard places.open("") >= 0 else { return Result(outcome: .noFolder) }
        let folder = places.open(WatchedPath.folder(version.path))
        guard folder >= 0 else { return Result(outcome: missing(PlaceLook(error: -folder))) }
        let seen = FolderPlaces.file(name, in: folder)
        let links = (seen ?? FolderPlaces.file(hiddenName, in: folder))?.links ?? 1
        let isChanged = seen.map { $0.stamp.inode == inode && !version.isSame(as: $0.stamp) } ?? false
        var wasHidden = false
        let outcome = run(folder, &wasHidden)
        let isGivenBack = wasHidden && isVersion(name, in: folder)
        return Result(
            outcome: outcome, hasOtherNames: links > 1, isChanged: isChanged,
            givenBack: isGivenBack ? FolderPlaces.file(name, in: folder)?.stamp.changed : nil)
    }

    /// Returns the outcome for a file that was not seen: a failed check by the kernel does not prove its absence.
    private func missing(_ look: PlaceLook) -> Outcome {
        if case .unclear(let error) = look { .stays(.file("look at", path, error)) } else { .notThere }
    }

    private func run(_ folder: Int32, _ wasHidden: inout Bool) -> Outcome {
        if then == .keep {
            // A process with another task may have ended in the middle of it.
            if holdsVersion(folder) { giveBack(folder) }
            return .kept
        }
        UnfinishedNaming.undo(hiddenPath, of: path, areEqual: FileDigest.areEqual)
        if !holdsVersion(folder) {
            // A hidden file and its return would be new events for the watcher, again and again while a process writes
            // it.
            guard isVersion(name, in: folder), transfer_is_written(folder, name, inode, 0) != 1 else {
                return missing(FolderPlaces.look(name, in: folder))
            }
            if let doubt = doubt(folder) { return doubt }
            let error = transfer_rename_new_at(folder, name, folder, hiddenName)
            guard error == 0 else {
                return error == ENOENT ? .notThere : .stays(.file("rename", path, error))
            }
            // A process that has the file open for writing creates another version of it.
            let isWritten = transfer_is_written(folder, hiddenName, inode, 0) == 1
            guard holdsVersion(folder), !isWritten else {
                giveBack(folder)
                return .notThere
            }
        }
        wasHidden = true
        Failpoint.reached(.fileHidden)
        switch then {
        case .keep: return .kept
        case .delete:
            guard unlinkat(folder, hiddenName, 0) == 0 else {
                let error = errno
                giveBack(folder)
                return .stays(.file("delete", path, error))
            }
            return .deleted
        case .move(let target):
            do throws(TransferError) {
                return .moved(to: try move(folder, into: WatchedPath.trimmed(target)))
            } catch {
                giveBack(folder)
                return isStopped() ? .stopped : .stays(error)
            }
        }
    }

    private var path: String { root + "/" + version.path }
    private var hiddenPath: String { "\(root)/\(WatchedPath.folder(version.path))/\(hiddenName)" }

    /// Returns an outcome if the bytes may differ from the sent ones. A writer can restore the file's time, but not its
    /// change time (inode(7)), which a rename or a new mode sets too. The bytes sent then decide; if they are unknown,
    /// the file is sent again rather than lost.
    private func doubt(_ folder: Int32) -> Outcome? {
        guard let seen = FolderPlaces.file(name, in: folder), row.mayHaveChanged(seen.stamp) else { return nil }
        guard let digest = row.digest, digest.algorithm == .sha256 else {
            // Earlier versions of this program recorded no change time to compare with.
            guard row.version.stamp.changed != nil else { return nil }
            guard let sent = row.fingerprint else { return .rewritten }
            return switch VersionDigest.match(sent, version, root: root, isStopped: isStopped) {
            case .same: nil
            case .other: .rewritten
            case .otherVersion, .unreadable: isStopped() ? .stopped : .notThere
            }
        }
        return switch VersionDigest.compute(version, root: root, isStopped: isStopped) {
        case .digest(digest): nil
        case .digest: .rewritten
        case .otherVersion: .notThere
        case .unreadable(let error): isStopped() ? .stopped : .stays(error)
        }
    }

    private func isVersion(_ name: String, in folder: Int32) -> Bool {
        version.isSame(as: FolderPlaces.file(name, in: folder)?.stamp)
    }

    /// Returns whether the hidden name has the version. Some FUSE file systems change a file's time at a rename, or its
    /// inode number with each name (sshfs). The sent bytes decide then.
    private func holdsVersion(_ folder: Int32) -> Bool {
        guard let seen = FolderPlaces.file(hiddenName, in: folder) else { return false }
        if version.isSame(as: seen.stamp) { return true }
        guard seen.stamp.size == version.size,
            seen.stamp.inode == version.stamp.inode || transfer_is_fuse(WatchedPath.folder(hiddenPath)) == 1
        else { return false }
        if let digest = row.digest { return (try? FileDigest.compute(hiddenPath, digest.algorithm)) == digest }
        guard let sent = row.fingerprint, let file = try? SourceFile(hiddenPath) else { return false }
        return file.fingerprint(isStopped: isStopped) == sent
    }

    /// Gives the file its own name again, or a numbered one if another file has taken the name meanwhile.
    private func giveBack(_ folder: Int32) {
        for number in 0..<10_000 {
            let name = number == 0 ? name : Self.numbered(name, number)
            if transfer_rename_new_at(folder, hiddenName, folder, name) != EEXIST { return }
        }
    }

    // MARK: Moving

    private func move(_ folder: Int32, into target: String) throws(TransferError) -> String {
        let wanted = target + "/" + version.path
        // The folder is made before the file leaves its own.
        for made in try FolderMaker.makeParents(of: wanted) { FolderMaker.sync(FolderMaker.parent(of: made)) }
        let parent = WatchedPath.folder(wanted)
        let place = transfer_open_at(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard place >= 0 else { throw .file("open the folder", parent, errno) }
        defer { close(place) }
        UnfinishedNaming.undo(wanted, of: hiddenPath, areEqual: FileDigest.areEqual)
        for number in 0..<10_000 {
            let name = number == 0 ? name : Self.numbered(name, number)
            switch transfer_rename_new_at(folder, hiddenName, place, name) {
            case 0:
                fsync(place)
                return parent + "/" + name
            case EEXIST: continue
            case EXDEV: return parent + "/" + (try copy(folder, to: place, parent))
            case let error: throw .file("move \(path) to", parent, error)
            }
        }
        throw .file("move \(path) to", parent, EEXIST)
    }

    /// Moves the file to another file system: copies it under a hidden name, makes it durable, names it, and only then
    /// deletes the original.
    private func copy(_ folder: Int32, to place: Int32, _ parent: String) throws(TransferError) -> String {
        let source = transfer_open_at(folder, hiddenName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard source >= 0 else { throw .file("read", path, errno) }
        defer { close(source) }
        // A partial copy of a killed process, which may have been about to be named, is begun anew.
        if FolderPlaces.file(hiddenName, in: place)?.stamp.size == version.size {
            UnfinishedNaming.undo(
                "\(parent)/\(name)", of: "\(parent)/\(hiddenName)", areEqual: FileDigest.areEqual)
        }
        unlinkat(place, hiddenName, 0)
        let copy = transfer_open_at(place, hiddenName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw .file("make a file in", parent, errno) }
        defer { close(copy) }
        do throws(TransferError) {
            try copyBytes(source, copy, parent)
            try keepAttributes(source, copy, parent)
            guard fsync(copy) == 0 else { throw .file("write to", parent, errno) }
            Failpoint.reached(.fileCopied)
            let name = try giveName(place, parent)
            Failpoint.reached(.copyNamed)
            fsync(place)
            guard unlinkat(folder, hiddenName, 0) == 0 else { throw .file("delete", path, errno) }
            return name
        } catch {
            unlinkat(place, hiddenName, 0)
            throw error
        }
    }

    private func giveName(_ place: Int32, _ parent: String) throws(TransferError) -> String {
        for number in 0..<10_000 {
            let name = number == 0 ? name : Self.numbered(name, number)
            // The existing file is the copy of a process that was killed before it deleted the original: the bytes and
            // the time are equal.
            if let stamp = FolderPlaces.file(name, in: place)?.stamp, mayBeCopy(stamp),
                FileDigest.areEqual(parent + "/" + hiddenName, parent + "/" + name)
            {
                unlinkat(place, hiddenName, 0)
                return name
            }
            switch transfer_rename_new_at(place, hiddenName, place, name) {
            case 0: return name
            case EEXIST: continue
            case let error: throw .file("move \(path) to", parent, error)
            }
        }
        throw .file("move \(path) to", parent, EEXIST)
    }

    /// Returns whether a file has the size and the time of the version, with the precision of its file system: FAT
    /// stores times in steps of two seconds.
    private func mayBeCopy(_ stamp: FileStamp) -> Bool {
        if FileStamp(size: version.size, modified: version.modified).isSameVersion(as: stamp) { return true }
        return stamp.size == version.size && stamp.modified % 1_000_000_000 == 0
            && abs(stamp.modified - version.modified) <= 2_000_000_000
    }

    /// Copies the bytes of the file.
    ///
    /// - Throws: The system's error, or `cancelled` when it is stopped.
    private func copyBytes(_ source: Int32, _ copy: Int32, _ parent: String) throws(TransferError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var unsaved = 0
        while true {
            if isStopped() { throw TransferError(.cancelled, "the folder is no longer watched") }
            let count = read(source, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .file("read", path, errno) }
            if count == 0 { return }
            var written = 0
            while written < count {
                let part = write(copy, buffer.baseAddress?.advanced(by: written), count - written)
                if part < 0, errno == EINTR { continue }
                guard part > 0 else { throw .file("write to", parent, errno) }
                written += part
            }
            // Regular syncing limits the time that a stop has to wait for the disk.
            unsaved += count
            if unsaved >= 64 << 20 {
                guard fdatasync(copy) == 0 else { throw .file("write to", parent, errno) }
                unsaved = 0
            }
        }
    }

    private func keepAttributes(_ source: Int32, _ copy: Int32, _ parent: String) throws(TransferError) {
        var status = stat()
        if fstat(source, &status) == 0 {
            fchmod(copy, status.st_mode & 0o7777)
            // Only a privileged process may change the owner.
            _ = fchown(copy, status.st_uid, status.st_gid)
        }
        let error = transfer_set_modified(copy, version.modified)
        guard error == 0 else { throw .file("set the time of a file in", parent, error) }
    }

    /// Returns `name.1.ext`, as for downloads that need a free name.
    package static func numbered(_ name: String, _ number: Int) -> String {
        FittedName.numbered(name, number, limit: 255)
    }
}
