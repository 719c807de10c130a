import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

/// The file to which a download is written before it gets its final name: open and locked.
///
/// A file that is likely to come in one piece may start without a name (`openUnnamed`). It gets `NAME.part` as soon as
/// a later attempt could use its bytes. A small file goes straight from nameless to finished.
///
/// Every step from here to the finished file is one function, so that a test can interrupt each.
public final class PartFile: Sendable {
    /// The path of the partial file.
    public let path: String
    /// The folder in which the file and those beside it are found; `nil` where their paths are used.
    public let folder: PinnedFolder?
    /// The open descriptor.
    public let descriptor: Int32
    /// The size in bytes when the file was opened.
    public let initialSize: Int64
    /// The record of the bytes when the file was opened.
    public let initialRecord: ResumeData?
    /// Whether only the queue's own record, by which the file was opened, shows that it is ours. That record also
    /// describes the bytes.
    public let isClaimed: Bool
    /// Whether the file itself holds its record and the mark that it is ours; if not, only the queue knows
    /// (``ResumeRecorder``).
    public var holdsRecords: Bool { canHold.load(ordering: .relaxed) }
    let canHold: Atomic<Bool>
    private let mapped = Atomic(false)
    /// A counter of new beginnings and ends. A pending record or reservation of an earlier generation must not be made.
    private let generation = Mutex(0)
    let hasName: Mutex<Bool>
    private let knownMount = Mutex<String??>(nil)
    /// Whether bytes were set aside for the file; `nil` before the first check.
    let knownAside: Mutex<Bool?>
    /// The sums of the pieces that are written in the file's order.
    public let sums = PieceSums()

    init(
        path: String, in folder: PinnedFolder?, descriptor: Int32, size: Int64, record: ResumeData?,
        isNamed: Bool = true, isClaimed: Bool = false, holdsRecords: Bool = true, hasAside: Bool? = nil
    ) {
        self.path = path
        self.folder = folder
        self.descriptor = descriptor
        self.isClaimed = isClaimed
        canHold = Atomic(holdsRecords)
        initialSize = size
        initialRecord = record
        hasName = Mutex(isNamed)
        knownAside = Mutex(hasAside)
    }

    deinit {
        // A process that is being started shares the descriptor until it runs its program: closing alone would leave
        // the lock to that process.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Opens or makes the file and takes its lock. The call blocks: it is meant for workers.
    ///
    /// - Parameters:
    ///   - claim: The record of the name elsewhere.
    ///   - folder: The folder of the path, where it is pinned.
    /// - Throws: `partNotOurs` when the name belongs to another program, `fileLocked` when another process writes to
    ///   it, otherwise the error of the system.
    public static func open(
        _ path: String, claim: PartOwnership.Claim = .none, in folder: PinnedFolder? = nil
    ) throws(TransferError) -> PartFile {
        try PartOpener(path: path, folder: folder).open(claim: claim)
    }

    /// Returns the owner of files that this process makes in the folder.
    ///
    /// Mostly it is the process's own user. But vfat has the same owner for all files, and an NFS server may replace
    /// root by another user.
    public static func ownerOfNewFiles(besides path: String) -> UInt32? {
        PartOpener(path: path, folder: nil).ownerOfNewFiles
    }

    /// Returns the content of a partial file without taking its lock, so another process may be writing to it. The call
    /// blocks.
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

    /// Makes a file without a name, for a path that is free and has no bytes set aside. The call blocks: it is meant
    /// for workers.
    ///
    /// - Returns: `nil` where the file system or its mount does not support that; `open` works there.
    public static func openUnnamed(_ path: String, in folder: PinnedFolder? = nil) -> PartFile? {
        let place = folder.place(of: path)
        guard canNameLater, let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let descriptor = transfer_open_unnamed(String(place[..<slash]))
        guard descriptor >= 0 else { return nil }
        return PartFile(
            path: path, in: folder, descriptor: descriptor, size: 0, record: nil, isNamed: false, hasAside: false)
    }

    /// Whether a file can be named later, which needs the descriptor's entry in /proc.
    static let canNameLater = access("/proc/self/fd", X_OK) == 0

    /// Discards the existing bytes: no record of them survives the first byte that follows.
    func truncate() throws(TransferError) {
        try beginAnew { () throws(TransferError) in
            // The file stays marked as ours even without its record.
            canHold.store(PartRecord.mark(descriptor), ordering: .relaxed)
            PartRecord.remove(descriptor)
            guard ftruncate(descriptor, 0) == 0 else { throw .file("truncate", path, errno) }
        }
        removeMap()
    }

    /// Whether there may be a map of its ranges beside the file (``SegmentLog``).
    var hasMap: Bool {
        get { mapped.load(ordering: .relaxed) }
        set { mapped.store(newValue, ordering: .relaxed) }
    }

    /// The file in the form that its map uses.
    var asLogged: SegmentLog.Part { SegmentLog.Part(place: place, descriptor) }

    /// Removes the map: the file has no holes left, or no bytes.
    public func removeMap() {
        guard hasMap else { return }
        SegmentLog.remove(beside: asLogged)
        hasMap = false
    }

    var currentGeneration: Int { generation.withLock { $0 } }

    /// Returns whether the file has not begun anew and `condition` holds. The file cannot begin anew during the call.
    func isCurrent(_ expected: Int, and condition: () -> Bool) -> Bool {
        generation.withLock { $0 == expected && condition() }
    }

    /// Begins anew by `body`: no record of the earlier bytes is written afterwards.
    func beginAnew(_ body: () throws(TransferError) -> Void) throws(TransferError) {
        try generation.withLock { (generation) throws(TransferError) in
            generation += 1
            try body()
        }
    }

    /// Removes bytes behind `length` that cannot be trusted.
    public func truncate(to length: Int64) throws(TransferError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .file("truncate", path, errno) }
    }

    /// Overwrites existing bytes. The call blocks: it is meant for workers.
    public func overwrite(_ bytes: [UInt8], at offset: Int64) throws(TransferError) {
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == bytes.count else { throw .file("write", path, count < 0 ? errno : ENOSPC) }
    }

    /// Records the version of the bytes in an extended attribute of the file, or by the keeper where it cannot have
    /// one.
    ///
    /// - Returns: Whether the file holds the record.
    @discardableResult
    func record(_ data: ResumeData, generation expected: Int, recorder: ResumeRecorder? = nil) -> Bool {
        guard (try? ensureNamed()) != nil else { return false }
        return generation.withLock { current in
            guard current == expected else { return false }
            guard holdsRecords else {
                recorder?(data) {}
                return false
            }
            return PartRecord.write(data, to: descriptor)
        }
    }

    /// Ends the pending work of workers on the file, as all bytes exist: none of it is done afterwards.
    public func settle() { generation.withLock { $0 += 1 } }

    /// Records the version of the bytes before the file is left alone.
    ///
    /// No pending record of earlier bytes can follow it.
    @discardableResult
    public func record(_ data: ResumeData) -> Bool {
        guard (try? ensureNamed()) != nil else { return false }
        return generation.withLock { generation in
            generation += 1
            return PartRecord.write(data, to: descriptor)
        }
    }

    /// Checks quickly whether the disk lacks space for a file of this length, before the rest of the disk is filled
    /// with its beginning.
    ///
    /// - Throws: `diskFull`.
    func checkSpace(_ length: Int64) throws(TransferError) {
        guard transfer_lacks_space(descriptor, length) == 0 else {
            throw .file("reserve \(ByteCount.format(length)) for", path, ENOSPC)
        }
    }

    /// Reserves the blocks of a file of this length, so that a lack of space is known at the start.
    ///
    /// Discarded bytes are not reserved, nor is a finished file, whose time would change.
    ///
    /// - Throws: `diskFull`; a file system that cannot reserve is no error.
    func reserve(_ length: Int64, generation expected: Int) throws(TransferError) {
        let code = generation.withLock { $0 == expected ? transfer_reserve(descriptor, length) : 0 }
        if code == ENOSPC || code == EDQUOT || code == EFBIG {
            throw .file("reserve \(ByteCount.format(length)) for", path, code)
        }
    }

    /// Returns the start of the first hole (lseek(2), `SEEK_HOLE`): a range that was never written, or removed by
    /// truncate(2).
    ///
    /// - Returns: `nil` where there is none before `length`, and where the file system does not report holes.
    public func firstHole(before length: Int64) -> Int64? {
        let hole = transfer_first_hole(descriptor)
        return hole >= 0 && hole < length ? hole : nil
    }

    /// Whether the file system may store written zeros as a hole, so that a hole does not prove a loss.
    public var storesZerosAsHoles: Bool {
        var system = statfs()
        guard fstatfs(descriptor, &system) == 0 else { return true }
        switch UInt32(truncatingIfNeeded: system.f_type) {
        case MountInstance.Kind.ext4, MountInstance.Kind.xfs, MountInstance.Kind.f2fs, MountInstance.Kind.tmpfs:
            return false
        default: return true
        }
    }

    /// The life of its file system (`MountInstance`), which an open file does not outlive.
    public var mount: String? {
        knownMount.withLock { known in
            if let known { return known }
            let mount = MountInstance.current(of: descriptor)
            known = .some(mount)
            return mount
        }
    }

    /// Returns how many of the bytes at opening can be trusted, by that record.
    public func trustedLength(_ record: ResumeData) -> Int64 {
        record.trustedLength(onMount: mount, fileSize: initialSize)
    }

    /// Returns the bytes at opening that can be trusted, by that record and the map beside the file.
    public func trustedRanges(_ record: ResumeData) -> ByteRanges {
        guard !record.isSequential else { return ByteRanges(0..<max(0, trustedLength(record))) }
        guard let mount, mount == record.mount else { return record.synced.clipped(to: initialSize) }
        var ranges = record.written
        ranges.formUnion(record.synced)
        if let log = SegmentLog.read(beside: asLogged, mark: record.mapMark), log.total == record.total {
            ranges.formUnion(log.received)
        }
        return ranges.clipped(to: initialSize)
    }

    /// Makes the bytes durable where unsynced bytes will not count. The call blocks: it is meant for workers.
    public func secured(_ record: ResumeData) -> ResumeData {
        guard mount == nil, record.synced.count < record.written.count, (try? sync()) != nil else {
            return record
        }
        var record = record
        record.synced = record.written
        return record
    }

    /// Makes the bytes durable.
    public func sync() throws(TransferError) {
        guard fdatasync(descriptor) == 0 else { throw .file("sync", path, errno) }
    }

    /// Makes all files of the file system durable: one call for many files.
    public func syncFileSystem() throws(TransferError) {
        let code = transfer_sync_file_system(descriptor)
        guard code == 0 else { throw .file("sync", path, code) }
    }

    /// Sets the file's modification time, in seconds since 1970.
    public func setModificationTime(_ seconds: Int64) {
        // A file system that keeps no times does not fail the download.
        _ = transfer_set_modified(descriptor, FileStamp.nanoseconds(seconds: seconds))
    }

    /// Records the file's current time in the file. As long as the time is the same, no other process has written to
    /// it.
    public func noteModificationTime() {
        guard let facts = try? facts() else { return }
        PartRecord.writeTime(facts.modified, to: descriptor)
    }

    /// Frees reserved blocks beyond the end.
    public func trimReservation() {
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int64(status.st_blocks) * 512 > Int64(status.st_size) + 1 << 20 else {
            return
        }
        _ = ftruncate(descriptor, status.st_size)
    }

    /// Returns the facts by which the finished file is recognised later.
    public func facts() throws(TransferError) -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("read", path, errno) }
        return FileStamp(status)
    }

    /// Removes the file if it has no bytes.
    public func discardIfEmpty() {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size == 0 { remove() }
    }

    /// Releases the lock for other processes, while this object may live on for a moment.
    ///
    /// A pending record is not written afterwards: the bytes may belong to another process by then.
    public func unlock() {
        generation.withLock { $0 = .min }
        _ = flock(descriptor, LOCK_UN)
    }
}
