import Glibc
import Testing
import TransferCore

@testable import TransferEngine

/// The ownership of a file that has the name of a partial file.
@Suite struct PartOwnershipTests {
    @Test(
        arguments: [
            (S_IFREG, 1, true, true), (S_IFREG, 1, false, false), (S_IFREG, 2, true, false), (S_IFREG, 2, false, false),
            (S_IFLNK, 1, true, false), (S_IFIFO, 1, true, false), (S_IFSOCK, 1, true, false), (S_IFDIR, 2, true, false),
            (S_IFCHR, 1, true, false), (S_IFBLK, 1, true, false),
        ] as [(UInt32, UInt64, Bool, Bool)])
    func onlyARegularFileOfOneNameAndOfOurs(_ kind: UInt32, _ links: UInt64, _ isOwn: Bool, _ isOurs: Bool) {
        #expect((PartOwnership.ofInode(mode: kind | 0o644, links: links, isOwn: isOwn) == .ours) == isOurs)
    }

    /// Rows: the mark on the file, and the record that is kept elsewhere.
    @Test(
        arguments: [
            (0, .nothing, .none, true), (9, .mark, .none, true), (9, .mark, .inode(8), true),
            (9, .nothing, .none, false), (9, .nothing, .name, true), (9, .nothing, .inode(7), true),
            (9, .nothing, .inode(8), false),
            (9, .unsupported, .none, false), (9, .unsupported, .name, true), (9, .unsupported, .inode(8), true),
        ] as [(Int64, PartOwnership.Bears, PartOwnership.Claim, Bool)])
    func bytesAreOursByTheirMarkOrTheirRecord(
        _ size: Int64, _ bears: PartOwnership.Bears, _ claim: PartOwnership.Claim, _ isOurs: Bool
    ) {
        let verdict = PartOwnership.ofContent(size: size, bears: bears, inode: 7, claim: claim)
        #expect((verdict == .ours) == isOurs)
    }

    @Test func aRecordClaimsItsOwnNameOnly() {
        var record = ResumeData(url: "u", validator: nil, total: nil, bootID: "", partialFile: "/x.part")
        #expect(record.claim(on: "/x.part") == .name && record.claim(on: "/x.1.part") == .none)
        record.partialInode = 7
        #expect(record.claim(on: "/x.part") == .inode(7))
    }
}
