import CTransferTimes
public import Glibc

/// The identity of a file and of its content, to the extent that the metadata shows it without reading the file.
///
/// An unknown number is `nil`, because earlier versions did not record all of them, and devices change at a reboot. Two
/// stamps are equal where all their numbers are. ``likeness(to:)`` decides whether a file still matches a record.
public struct FileStamp: Sendable, Hashable {
    /// The device number of the file system (`st_dev`, stat(3type)).
    public var device: UInt64?
    /// The inode number (`st_ino`).
    public var inode: UInt64?
    /// The size in bytes.
    public var size: Int64
    /// The time of the last change of the content (`st_mtim`), in nanoseconds since 1970. Times more than 292 years
    /// from 1970 are limited to that.
    public var modified: Int64
    /// The time of the last change of anything, including name and mode (`st_ctim`, which no process can set), in
    /// nanoseconds since 1970.
    public var changed: Int64?

    /// Creates a stamp; times are in nanoseconds since 1970, and the size is in bytes.
    public init(device: UInt64? = nil, inode: UInt64? = nil, size: Int64, modified: Int64, changed: Int64? = nil) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// Creates a stamp from the result of stat(2).
    public init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: transfer_nanoseconds(status.st_mtim), changed: transfer_nanoseconds(status.st_ctim))
    }

    /// The difference between two stamps of possibly the same file, the least first.
    public enum Likeness: Int, Sendable, Comparable, CaseIterable {
        /// All numbers known to both are equal.
        case same
        /// The time of the last change of anything differs. The name or the mode changed, or the file was written and
        /// its modification time reset.
        case touched
        /// The time of the last change of the content differs: the file was written, or touch(1) set its time.
        case retimed
        /// The file or its length differs.
        case other

        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// Compares two stamps; numbers known to only one of them do not count.
    public func likeness(to other: FileStamp) -> Likeness {
        guard size == other.size, Self.mayBeEqual(device, other.device), Self.mayBeEqual(inode, other.inode) else {
            return .other
        }
        guard modified == other.modified else { return .retimed }
        return Self.mayBeEqual(changed, other.changed) ? .same : .touched
    }

    /// The coarsest resolution of file times, that of FAT and ZIP: two seconds, in nanoseconds.
    public static let coarsestTime: Int64 = 2_000_000_000

    /// The resolutions of times in file systems and programs: two seconds, one second (sshfs, tar), ten milliseconds
    /// (exFAT), a microsecond (utimes(2)), a hundred nanoseconds (NTFS, SMB).
    private static let timeSteps: [Int64] = [coarsestTime, 1_000_000_000, 10_000_000, 1000, 100]

    /// Returns whether two modification times may be equal, with one rounded up or down by a copy.
    public static func mayBeSameTime(_ one: Int64, _ other: Int64) -> Bool {
        let (distance, overflow) = one.subtractingReportingOverflow(other)
        guard distance != 0 || overflow else { return true }
        return !overflow && timeSteps.contains { distance.magnitude < $0 && (one % $0 == 0 || other % $0 == 0) }
    }

    /// Returns whether only the name or the mode may have changed, to the extent that this is known without reading the
    /// file.
    public func isSameVersion(as other: FileStamp?) -> Bool { other.map { likeness(to: $0) <= .touched } ?? false }

    /// The stamp without the device, for comparisons across a reboot or a new mount.
    public var onAnyDevice: FileStamp {
        var stamp = self
        stamp.device = nil
        return stamp
    }

    /// The numbers that identify this version, whatever its name or mode.
    public var version: FileStamp {
        var stamp = self
        stamp.changed = nil
        return stamp
    }

    private static func mayBeEqual<Number: Equatable>(_ one: Number?, _ other: Number?) -> Bool {
        guard let one, let other else { return true }
        return one == other
    }

    /// Returns whole seconds as nanoseconds, limited to the possible values.
    public static func nanoseconds(seconds: Int64) -> Int64 {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : nanoseconds
    }
}
