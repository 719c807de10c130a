import CTransferTimes
public import Glibc

/// The identity of a file and of its bytes, as far as the numbers of a file system tell without a read.
///
/// A number that isn't known is `nil`: earlier versions didn't record each of them, and devices have others after a
/// reboot. Two stamps are equal where all their numbers are; whether a file still is what a record says, is told by
/// ``likeness(to:)``.
public struct FileStamp: Sendable, Hashable {
    /// The file system's number (`st_dev`, stat(3type)).
    public var device: UInt64?
    public var inode: UInt64?
    /// In bytes.
    public var size: Int64
    /// When its content changed last (`st_mtim`), in nanoseconds since 1970; of times that are further from it than 292
    /// years the furthest that can be told.
    public var modified: Int64
    /// When anything of it changed last, its name or mode too (`st_ctim`, which nobody can set), in nanoseconds since 1970.
    public var changed: Int64?

    public init(device: UInt64? = nil, inode: UInt64? = nil, size: Int64, modified: Int64, changed: Int64? = nil) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    public init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: transfer_nanoseconds(status.st_mtim), changed: transfer_nanoseconds(status.st_ctim))
    }

    /// How two looks at what may be one file differ, the least first.
    public enum Likeness: Int, Sendable, Comparable, CaseIterable {
        /// Every number that both know is the same.
        case same
        /// The time of the last change of anything is another: its name or its mode changed, or somebody wrote to it and
        /// put the time back.
        case touched
        /// The time of the last change of its content is another: it was written to, or touch(1) set its time.
        case retimed
        /// Another file, or another length.
        case other

        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// Numbers that one of both doesn't know tell nothing.
    public func likeness(to other: FileStamp) -> Likeness {
        guard size == other.size, Self.mayBeEqual(device, other.device), Self.mayBeEqual(inode, other.inode) else {
            return .other
        }
        guard modified == other.modified else { return .retimed }
        return Self.mayBeEqual(changed, other.changed) ? .same : .touched
    }

    /// The coarsest resolution of a file's time, that of FAT and ZIP: two seconds, in nanoseconds.
    public static let coarsestTime: Int64 = 2_000_000_000

    /// Steps of times that file systems keep and programs copy: two seconds, one (sshfs, tar), ten milliseconds (exFAT), a
    /// microsecond (utimes(2)), a hundred nanoseconds (NTFS, SMB).
    private static let timeSteps: [Int64] = [coarsestTime, 1_000_000_000, 10_000_000, 1000, 100]

    /// Whether two times of the last change may be one, of which a copy has kept less. A copy's is rounded, up or down.
    public static func mayBeSameTime(_ one: Int64, _ other: Int64) -> Bool {
        let (distance, overflow) = one.subtractingReportingOverflow(other)
        guard distance != 0 || overflow else { return true }
        return !overflow && timeSteps.contains { distance.magnitude < $0 && (one % $0 == 0 || other % $0 == 0) }
    }

    /// Whether nothing but its name or its mode has changed, as far as can be told without reading it.
    public func isSameVersion(as other: FileStamp?) -> Bool { other.map { likeness(to: $0) <= .touched } ?? false }

    /// For comparisons with what was seen before a reboot, or before a disk was mounted anew.
    public var onAnyDevice: FileStamp {
        var stamp = self
        stamp.device = nil
        return stamp
    }

    /// The numbers that make it this version, whatever its name or mode is.
    public var version: FileStamp {
        var stamp = self
        stamp.changed = nil
        return stamp
    }

    private static func mayBeEqual<Number: Equatable>(_ one: Number?, _ other: Number?) -> Bool {
        guard let one, let other else { return true }
        return one == other
    }

    /// A whole second.
    public static func nanoseconds(seconds: Int64) -> Int64 {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : nanoseconds
    }
}
