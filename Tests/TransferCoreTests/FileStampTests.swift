import Testing
import TransferCore

/// The difference between two observations of a file: the numbers, and the subset that both know.
struct FileStampTests {
    static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

    static func stamp(_ change: (inout FileStamp) -> Void) -> FileStamp {
        var stamp = stamp
        change(&stamp)
        return stamp
    }

    static let rows: [(other: FileStamp, likeness: FileStamp.Likeness)] = [
        (stamp, .same),
        // Another name, another mode, or new bytes with the former time.
        (stamp { $0.changed = 6 }, .touched),
        (stamp { $0.modified = 6 }, .retimed),
        (stamp { ($0.modified, $0.changed) = (6, 6) }, .retimed),
        (stamp { $0.size = 6 }, .other),
        (stamp { $0.inode = 6 }, .other),
        (stamp { $0.device = 6 }, .other),
        // Equal times prove nothing about another file.
        (stamp { ($0.inode, $0.changed) = (6, 6) }, .other),
        // Missing numbers prove nothing.
        (stamp { $0.changed = nil }, .same),
        (stamp { ($0.changed, $0.modified) = (nil, 6) }, .retimed),
        (stamp { $0.inode = nil }, .same),
        (stamp { ($0.inode, $0.size) = (nil, 6) }, .other),
        (stamp { ($0.device, $0.changed) = (nil, 6) }, .touched),
        (FileStamp(size: 3, modified: 4), .same),
        (FileStamp(size: 3, modified: 5), .retimed),
    ]

    @Test(arguments: rows) func saysHowTwoLooksDiffer(_ other: FileStamp, _ likeness: FileStamp.Likeness) {
        #expect(Self.stamp.likeness(to: other) == likeness && other.likeness(to: Self.stamp) == likeness)
        #expect(Self.stamp.isSameVersion(as: other) == (likeness <= .touched))
    }

    @Test func nothingIsNoVersion() { #expect(!Self.stamp.isSameVersion(as: nil)) }

    @Test func aDeviceMayHaveAnotherNumber() {
        let other = Self.stamp { $0.device = 6 }
        #expect(Self.stamp.onAnyDevice.likeness(to: other) == .same && Self.stamp.likeness(to: other) == .other)
    }

    @Test func aVersionIsTheSameUnderAnotherName() {
        #expect(Self.stamp.version == Self.stamp { $0.changed = 6 }.version)
        #expect(Self.stamp.version != Self.stamp { $0.modified = 6 }.version)
    }

    @Test(
        arguments: [
            (1_600_000_001_123_456_789, 1_600_000_001_123_456_789, true),
            // Resolutions of one second and of two seconds, rounded down and up.
            (1_600_000_001_123_456_789, 1_600_000_001_000_000_000, true),
            (1_600_000_001_123_456_789, 1_600_000_000_000_000_000, true),
            (1_600_000_001_123_456_789, 1_600_000_002_000_000_000, true),
            (1_600_000_001_123_456_789, 1_600_000_003_000_000_000, false),
            (1_600_000_001_123_456_789, 1_599_999_999_000_000_000, false),
            // Resolutions of ten milliseconds, a microsecond and a hundred nanoseconds.
            (1_600_000_001_123_456_789, 1_600_000_001_120_000_000, true),
            (1_600_000_001_123_456_789, 1_600_000_001_123_456_000, true),
            (1_600_000_001_123_456_789, 1_600_000_001_123_456_700, true),
            (1_600_000_001_123_456_789, 1_600_000_001_123_456_788, false),
            (1_600_000_001_123_456_789, 1_600_000_001_143_000_000, false),
            (Int64.min, Int64.max, false), (0, 0, true),
        ] as [(Int64, Int64, Bool)])
    func aCopyMayHaveKeptLessOfATime(_ one: Int64, _ other: Int64, _ isSame: Bool) {
        #expect(FileStamp.mayBeSameTime(one, other) == isSame && FileStamp.mayBeSameTime(other, one) == isSame)
    }
}
