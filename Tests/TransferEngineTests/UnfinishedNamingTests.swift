import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// A process that dies between the two calls of a naming leaves a state that the next process undoes. No other file is
/// touched.
@Suite struct UnfinishedNamingTests {
    private static let part = UnfinishedNaming.Named(
        device: 1, inode: 7, links: 1, size: 100, modified: 5_000_000_000, owner: 1000)

    private static func changed(_ change: (inout UnfinishedNaming.Named) -> Void) -> UnfinishedNaming.Named {
        var named = part
        (named.inode, named.size, named.modified) = (8, 0, 6_000_000_000)
        change(&named)
        return named
    }

    /// Rows: the file at the new name, whether its file system has hard links, and the verdict.
    static let table: [(String, UnfinishedNaming.Named, Bool, UnfinishedNaming?)] = [
        ("an empty file, made last", changed { _ in }, false, .placeholder),
        ("of a time that FAT rounded down", changed { $0.modified = 4_000_000_000 }, false, .placeholder),
        ("where links take the name", changed { _ in }, true, nil),
        ("with bytes", changed { $0.size = 1 }, false, nil),
        ("that was there before", changed { $0.modified = 1_000_000_000 }, false, nil),
        ("another user's", changed { $0.owner = 0 }, false, nil),
        ("with other names", changed { $0.links = 2 }, false, nil),
        ("the same file", changed { ($0.inode, $0.links, $0.size) = (7, 2, 100) }, true, .secondName),
        ("the same file, its names not counted", changed { ($0.inode, $0.size) = (7, 100) }, true, .secondName),
        ("the same file with a third name", changed { ($0.inode, $0.links, $0.size) = (7, 3, 100) }, true, nil),
        ("the same number on another device", changed { ($0.device, $0.inode, $0.links) = (2, 7, 2) }, true, nil),
    ]

    @Test(arguments: table.indices) func onlyALeftoverOfANamingIsRecognised(_ index: Int) {
        let (what, new, hasLinks, expected) = Self.table[index]
        let found = UnfinishedNaming.judge(new: new, old: Self.part, hasLinks: { hasLinks })
        #expect(found == expected, "\(what)")
    }

    /// FUSE may invent an inode number for each name (sshfs). Then the same length, time, owner and bytes count.
    @Test(
        arguments: [
            (Int64(100), Int64(5_000_000_000), UInt32(1000), true, UnfinishedNaming.secondName),
            (100, 5_000_000_000, 1000, false, nil), (99, 5_000_000_000, 1000, true, nil),
            (100, 6_000_000_000, 1000, true, nil), (100, 5_000_000_000, 0, true, nil),
        ] as [(Int64, Int64, UInt32, Bool, UnfinishedNaming?)])
    func aSecondNameWithAnotherNumberIsKnownByItsBytes(
        _ size: Int64, _ modified: Int64, _ owner: UInt32, _ isSame: Bool, _ expected: UnfinishedNaming?
    ) {
        let new = Self.changed { ($0.size, $0.modified, $0.owner) = (size, modified, owner) }
        let found = UnfinishedNaming.judge(new: new, old: Self.part, hasLinks: { true }, isSame: { isSame })
        #expect(found == expected)
    }

    @Test func anEmptyFileTakesNoNameByAPlaceholder() {
        var empty = Self.part
        empty.size = 0
        #expect(UnfinishedNaming.judge(new: Self.changed { _ in }, old: empty, hasLinks: { false }) == nil)
    }

    @Test func aSecondNameIsTakenBack() throws {
        let folder = try TemporaryFolder("naming")
        try folder.write("bytes", to: "a.part")
        try #require(link(folder.path("a.part"), folder.path("a")) == 0)
        let found = UnfinishedNaming.undo(folder.path("a"), of: folder.path("a.part"), areEqual: { _, _ in false })
        #expect(found == .secondName)
        #expect(try folder.files() == ["a.part"] && folder.text("a.part") == "bytes")
    }

    /// The file system has hard links, so no naming makes an empty placeholder.
    @Test func anEmptyFileOfTheUserStays() throws {
        let folder = try TemporaryFolder("naming")
        try folder.write("bytes", to: "a.part")
        try folder.write("", to: "a")
        let found = UnfinishedNaming.undo(folder.path("a"), of: folder.path("a.part"), areEqual: { _, _ in false })
        #expect(found == nil)
        #expect(try folder.files().sorted() == ["a", "a.part"])
    }

    // MARK: Names that file systems refuse

    @Test(arguments: [
        ("x:y", "with \":\""), ("x?", "with \"?\""), ("a\\b", "with \"\\\""), ("x.", "that ends with a period"),
        ("x ", "that ends with a space"), ("x\u{1}", "with a control character"), ("plain.txt", nil), (".hidden", nil),
    ]) func namesThatOtherFileSystemsRefuseAreReported(_ name: String, _ expected: String?) {
        #expect(RefusedName.doubtful(name[...]) == expected)
    }

    @Test func anotherReasonIsNotTakenForTheName() throws {
        let folder = try TemporaryFolder("naming")
        let missing = folder.path("none/x:y")
        #expect(RefusedName.error(missing, place: missing, ENOENT) == nil, "the folder is not there")
        let there = folder.path("x:y")
        #expect(RefusedName.error(there, place: there, ENOSPC) == nil)
        #expect(RefusedName.error(there, place: there, EINVAL)?.message.contains("takes no name with \":\"") == true)
        #expect(try folder.files() == [])
    }
}
