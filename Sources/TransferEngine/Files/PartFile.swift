import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

/// The file that a download is written to before it bears its own name: open and locked.
///
/// One that is likely to come in one piece may start without a name (`openUnnamed`): it gets `NAME.part` as soon as
/// there is something that a later attempt could want, and a small file goes straight from nameless to finished.
///
/// Every step from here to the finished file is one function, so that each can be cut by a test.
public final class PartFile: Sendable {
    public let path: String
    /// The folder that the file and those beside it are found in; `nil` where their paths lead there.
    public let folder: PinnedFolder?
    public let descriptor: Int32
    /// The size when it was opened.
    public let initialSize: Int64
    /// The record of the bytes when the file was opened.
    public let initialRecord: ResumeData?
    /// Whether it's known for ours by the queue's own record alone, by which it was opened: that speaks of the bytes too.
    public let isClaimed: Bool
    /// Whether the file itself bears that it's ours, and its record; if not, only the queue can tell (``ResumeRecorder``).
    public var holdsRecords: Bool { canHold.load(ordering: .relaxed) }
    let canHold: Atomic<Bool>
    private let mapped = Atomic(false)
    /// Counts the starts from zero and the ends: a record of earlier bytes, or a reservation, that is still on its way then
    /// must not be made.
    private let generation = Mutex(0)
    let hasName: Mutex<Bool>
    private let knownMount = Mutex<String??>(nil)
    /// Whether bytes were set aside for the file; `nil` as long as nobody has looked.
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
        // A process that is being started has the descriptor too, until it becomes its program: closing it here leaves
        // the lock to that one.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Opens or makes the file and takes its lock. Blocks: for workers.
    ///
    /// - Parameters:
    ///   - claim: What was recorded of the name elsewhere.
    ///   - folder: The folder of the path, where it's pinned.
    /// - Throws: `partNotOurs` when the name is another one's, `fileLocked` when another process writes to it, else what
    ///   the system says.
    public static func open(
        _ path: String, claim: PartOwnership.Claim = .none, in folder: PinnedFolder? = nil
    ) throws(TransferError) -> PartFile {
        try PartOpener(path: path, folder: folder).open(claim: claim)
    }

    /// The owner that files get which this process makes in the folder: mostly itself, but one file system has the same
    /// owner for all of them (vfat), and a server may put nobody in root's place (NFS).
    public static func ownerOfNewFiles(besides path: String) -> UInt32? {
        PartOpener(path: path, folder: nil).ownerOfNewFiles
    }

    /// The content of a partial file, without its lock: another process may be writing to it. Blocks.
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

    /// Makes a file that has no name yet, for a path known to be free, with nothing set aside for it. Blocks: for
    /// workers.
    ///
    /// - Returns: `nil` where the file system or its mount can't do that; `open` can.
    public static func openUnnamed(_ path: String, in folder: PinnedFolder? = nil) -> PartFile? {
        let place = folder.place(of: path)
        guard canNameLater, let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let descriptor = transfer_open_unnamed(String(place[..<slash]))
        guard descriptor >= 0 else { return nil }
        return PartFile(
            path: path, in: folder, descriptor: descriptor, size: 0, record: nil, isNamed: false, hasAside: false)
    }

    /// A name is given through the descriptor's entry in /proc.
    static let canNameLater = access("/proc/self/fd", X_OK) == 0

    /// Gives up what is there: no record of it survives its first byte.
    func truncate() throws(TransferError) {
        try beginAnew { () throws(TransferError) in
            // The file stays ours without its record, too.
            canHold.store(PartRecord.mark(descriptor), ordering: .relaxed)
            PartRecord.remove(descriptor)
            guard ftruncate(descriptor, 0) == 0 else { throw .file("truncate", path, errno) }
        }
        removeMap()
    }

    /// Whether there may be a map of its ranges beside it (``SegmentLog``).
    var hasMap: Bool {
        get { mapped.load(ordering: .relaxed) }
        set { mapped.store(newValue, ordering: .relaxed) }
    }

    /// The file as its map knows it.
    var asLogged: SegmentLog.Part { SegmentLog.Part(place: place, descriptor) }

    /// The file has no holes any more, or nothing at all.
    public func removeMap() {
        guard hasMap else { return }
        SegmentLog.remove(beside: asLogged)
        hasMap = false
    }

    var currentGeneration: Int { generation.withLock { $0 } }

    /// Whether the file hasn't begun anew, and `condition` holds; it doesn't begin anew meanwhile.
    func isCurrent(_ expected: Int, and condition: () -> Bool) -> Bool {
        generation.withLock { $0 == expected && condition() }
    }

    /// Begins anew in the way that `body` does it: no record of what was there is written any more.
    func beginAnew(_ body: () throws(TransferError) -> Void) throws(TransferError) {
        try generation.withLock { (generation) throws(TransferError) in
            generation += 1
            try body()
        }
    }

    /// Cuts off bytes that can't be trusted.
    public func truncate(to length: Int64) throws(TransferError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .file("truncate", path, errno) }
    }

    /// Writes over bytes that are there. Blocks: for workers.
    public func overwrite(_ bytes: [UInt8], at offset: Int64) throws(TransferError) {
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == bytes.count else { throw .file("write", path, count < 0 ? errno : ENOSPC) }
    }

    /// Records what the bytes are, in an extended attribute of the file itself or, where it can't have one, by the keeper.
    ///
    /// - Returns: Whether the file took it.
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

    /// All bytes are there: of what workers still want to do beside the transfer nothing is done any more.
    public func settle() { generation.withLock { $0 += 1 } }

    /// Records what the bytes are, before the file is left alone: no record of earlier bytes that is still on its way
    /// comes after it.
    @discardableResult
    public func record(_ data: ResumeData) -> Bool {
        guard (try? ensureNamed()) != nil else { return false }
        return generation.withLock { generation in
            generation += 1
            return PartRecord.write(data, to: descriptor)
        }
    }

    /// Finds out, quickly, whether a file of this length has no place on the disk, before the rest of the disk is filled
    /// with its beginning.
    ///
    /// - Throws: `diskFull`.
    func checkSpace(_ length: Int64) throws(TransferError) {
        guard transfer_lacks_space(descriptor, length) == 0 else {
            throw .file("reserve \(ByteCount.format(length)) for", path, ENOSPC)
        }
    }

    /// Takes the blocks for a file of this length, so that a disk that others fill is known at the start; not for bytes
    /// that were given up meanwhile, and not for a file that is finished, whose time it would change.
    ///
    /// - Throws: `diskFull`; a file system that can't reserve is no error.
    func reserve(_ length: Int64, generation expected: Int) throws(TransferError) {
        let code = generation.withLock { $0 == expected ? transfer_reserve(descriptor, length) : 0 }
        if code == ENOSPC || code == EDQUOT || code == EFBIG {
            throw .file("reserve \(ByteCount.format(length)) for", path, code)
        }
    }

    /// The start of the first hole (lseek(2), `SEEK_HOLE`): a range that was never written, or given back by truncate(2).
    ///
    /// - Returns: `nil` where there is none before `length`, and where the file system tells of none.
    public func firstHole(before length: Int64) -> Int64? {
        let hole = transfer_first_hole(descriptor)
        return hole >= 0 && hole < length ? hole : nil
    }

    /// Whether its file system may keep written zeros as a hole, so that a hole is no proof of a loss.
    public var storesZerosAsHoles: Bool {
        var system = statfs()
        guard fstatfs(descriptor, &system) == 0 else { return true }
        switch UInt32(truncatingIfNeeded: system.f_type) {
        case MountInstance.Kind.ext4, MountInstance.Kind.xfs, MountInstance.Kind.f2fs, MountInstance.Kind.tmpfs:
            return false
        default: return true
        }
    }

    /// The life of its file system (`MountInstance`), which an open file doesn't outlive.
    public var mount: String? {
        knownMount.withLock { known in
            if let known { return known }
            let mount = MountInstance.current(of: descriptor)
            known = .some(mount)
            return mount
        }
    }

    /// How many of the bytes that were there when it was opened can be trusted, by that record.
    public func trustedLength(_ record: ResumeData) -> Int64 {
        record.trustedLength(onMount: mount, fileSize: initialSize)
    }

    /// The bytes that were there when it was opened and can be trusted, by that record and the map beside the file.
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

    /// Makes the bytes durable where nothing else will count. Blocks: for workers.
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

    /// Makes everything of the file system durable: one call for many files.
    public func syncFileSystem() throws(TransferError) {
        let code = transfer_sync_file_system(descriptor)
        guard code == 0 else { throw .file("sync", path, code) }
    }

    /// Gives the file its modification time, in seconds since 1970.
    public func setModificationTime(_ seconds: Int64) {
        // A file system that keeps no times is no reason to fail.
        _ = transfer_set_modified(descriptor, FileStamp.nanoseconds(seconds: seconds))
    }

    /// Notes in the file what its time is now: as long as it's that, nobody else has written to it.
    public func noteModificationTime() {
        guard let facts = try? facts() else { return }
        PartRecord.writeTime(facts.modified, to: descriptor)
    }

    /// Drops blocks reserved beyond the end.
    public func trimReservation() {
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int64(status.st_blocks) * 512 > Int64(status.st_size) + 1 << 20 else {
            return
        }
        _ = ftruncate(descriptor, status.st_size)
    }

    /// The facts by which the finished file is recognised later.
    public func facts() throws(TransferError) -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("read", path, errno) }
        return FileStamp(status)
    }

    /// Leaves nothing behind where nothing came.
    public func discardIfEmpty() {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size == 0 { remove() }
    }

    /// Lets others have the file, while this object may live on for a moment.
    ///
    /// A record that is still on its way is not written any more: the bytes may be somebody else's by then.
    public func unlock() {
        generation.withLock { $0 = .min }
        _ = flock(descriptor, LOCK_UN)
    }
}
