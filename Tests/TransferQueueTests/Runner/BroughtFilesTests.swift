import Testing
import TransferCore

@testable import TransferQueue

/// The files that a batch's jobs have downloaded.
@Suite struct BroughtFilesTests {
    private let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

    @Test func aFileIsKnownInItsBatchAlone() {
        let files = BroughtFiles()
        files.note(stamp, batch: 1)
        #expect(files.contains(stamp, batch: 1) && !files.contains(stamp, batch: 2))
    }

    @Test func aNameOrAModeMayChangeAndTheContentNot() {
        let files = BroughtFiles()
        files.note(stamp, batch: 1)
        var other = stamp
        other.changed = 9
        #expect(files.contains(other, batch: 1))
        for change in [\FileStamp.size, \.modified] {
            other = stamp
            other[keyPath: change] += 1
            #expect(!files.contains(other, batch: 1))
        }
    }
}
