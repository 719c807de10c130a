import Testing
import TransferCore

@testable import TransferWatch

@Suite struct FolderTreeTests {
    /// Returns a tree of a/b, a/b/c and d, all read, with the watches 1 to 5.
    static func tree() -> (FolderTree, [String: FolderTree.ID]) {
        var tree = FolderTree()
        let a = tree.meet("a", in: FolderTree.root) ?? -1
        let b = tree.meet("b", in: a) ?? -1
        let c = tree.meet("c", in: b) ?? -1
        let d = tree.meet("d", in: FolderTree.root) ?? -1
        let ids = ["": FolderTree.root, "a": a, "b": b, "c": c, "d": d]
        for (watch, name) in ["", "a", "b", "c", "d"].enumerated() {
            tree.setWatch(Int32(watch + 1), of: ids[name] ?? 0)
        }
        while tree.popDirty() != nil {}
        return (tree, ids)
    }

    @Test func knowsThePathOfEachWatch() throws {
        let (tree, _) = Self.tree()
        let paths = (1...5).map { tree.folder(ofWatch: Int32($0)).flatMap { tree.path(of: $0) } }
        #expect(paths == ["", "a", "a/b", "a/b/c", "d"])
        #expect(tree.folder(ofWatch: 9) == nil)
    }

    @Test func aMovedFolderKeepsItsWatchesUnderTheNewPath() throws {
        var (tree, ids) = Self.tree()
        let b = try #require(ids["b"])
        tree.detach(b)
        #expect(tree.path(of: b) == nil && tree.folder(ofWatch: 4).flatMap { tree.path(of: $0) } == nil)
        tree.attach(b, as: "B", in: try #require(ids["d"]))
        #expect(tree.folder(ofWatch: 4).flatMap { tree.path(of: $0) } == "d/B/c")
        #expect(tree.child("b", of: try #require(ids["a"])) == nil)
    }

    @Test func aRemovedFolderTakesAllBeneathWithIt() throws {
        var (tree, ids) = Self.tree()
        let watches = tree.remove(try #require(ids["a"]))
        #expect(watches.sorted() == [2, 3, 4])
        #expect(tree.count == 2 && tree.folder(ofWatch: 3) == nil && tree.path(of: ids["c"] ?? 0) == nil)
        // The number is not reused.
        let next = tree.meet("a", in: FolderTree.root)
        #expect(!ids.values.contains(next ?? 0))
    }

    @Test func aReadingShowsWhichFoldersAreGone() throws {
        var (tree, ids) = Self.tree()
        tree.beginReading(FolderTree.root)
        tree.meet("d", in: FolderTree.root)
        // A folder that appears during the reading counts as found.
        tree.meet("e", in: FolderTree.root)
        #expect(tree.unmet(in: FolderTree.root) == [try #require(ids["a"])])
    }

    @Test func foldersAreReadInTheOrderInWhichTheyWait() throws {
        var (tree, ids) = Self.tree()
        for name in ["d", "b", "d", "a"] { tree.markDirty(try #require(ids[name])) }
        #expect(tree.dirtyCount == 3)
        _ = tree.remove(try #require(ids["b"]))
        #expect(tree.dirtyCount == 2)
        let order = [tree.popDirty(), tree.popDirty(), tree.popDirty()]
        #expect(order == [ids["d"], ids["a"], nil] && tree.dirtyCount == 0)
    }

    @Test func countsThePolledOnes() throws {
        var (tree, ids) = Self.tree()
        for name in ["b", "c", "c", "d"] { tree.setPolled(true, of: try #require(ids[name])) }
        tree.setPolled(false, of: try #require(ids["d"]))
        #expect(tree.polledCount == 2)
        _ = tree.remove(try #require(ids["a"]))
        #expect(tree.polledCount == 0)
    }
}

@Suite struct InotifyEventTests {
    static func bytes(_ watch: Int32, _ mask: UInt32, _ cookie: UInt32, _ name: [UInt8]) -> [UInt8] {
        let fields: [UInt32] = [UInt32(bitPattern: watch), mask, cookie, UInt32(name.count)]
        return fields.flatMap { field in withUnsafeBytes(of: field) { Array($0) } } + name
    }

    static func parse(_ bytes: [UInt8]) -> [InotifyEvent] { bytes.withUnsafeBytes { InotifyEvent.parse($0) } }

    @Test func eventsOfTheKernelAreParsed() {
        // Masks and layout as in inotify(7) and linux/inotify.h.
        let events = Self.parse(
            Self.bytes(3, 0x8, 0, Array("a.txt".utf8) + [0, 0, 0])
                + Self.bytes(4, 0x4000_0080, 77, Array("folder".utf8) + [0, 0])
                + Self.bytes(-1, 0x4000, 0, []) + Self.bytes(3, 0x8000, 0, [])
                + Self.bytes(3, 0x100, 0, [0xFF, 0x41, 0, 0]))
        #expect(
            events == [
                InotifyEvent(watch: 3, kind: .closedAfterWriting, name: .text("a.txt")),
                InotifyEvent(watch: 4, kind: [.movedTo, .folder], cookie: 77, name: .text("folder")),
                .overflowed, InotifyEvent(watch: 3, kind: .ignored),
                InotifyEvent(watch: 3, kind: .made, name: .broken("\u{FFFD}A")),
            ])
    }

    @Test func truncatedEventsAreIgnored() {
        let whole = Self.bytes(3, 0x8, 0, Array("abcd".utf8))
        for count in 0..<whole.count { #expect(Self.parse(Array(whole[..<count])).isEmpty) }
        #expect(Self.parse(whole + whole.prefix(18)).count == 1)
    }

    @Test func asksForNoEventOfSingleWritesOrAttributes() {
        #expect(InotifyEvent.mask & (0x2 | 0x4) == 0)
        #expect(InotifyEvent.mask == 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x0100_0000 | 0x0400_0000)
    }

    @Test func namesTheLimitAndTheLineThatRaisesIt() {
        var kernel = WatchKernel.linux
        kernel.limit = { $0 == "fs.inotify.max_user_watches" ? 8192 : nil }
        let watches = kernel.refusal(28).error
        #expect(watches.code == .watchLimit && watches.errno == 28)
        #expect(watches.message.contains("fs.inotify.max_user_watches is 8192"))
        #expect(watches.message.contains("`sysctl -w fs.inotify.max_user_watches=524288`"))
        #expect(kernel.refusal(24).error.message.contains("fs.inotify.max_user_instances is too low"))
        kernel.limit = { $0.hasPrefix("fs.") ? 1_000_000 : 600_000 }
        let inNamespace = kernel.refusal(28).error.message
        #expect(inNamespace.contains("user.max_inotify_watches is 600000"))
        #expect(inNamespace.contains("`sysctl -w user.max_inotify_watches=1200000`"))
        #expect(kernel.refusal(24).error.message.contains("user.max_inotify_instances is 600000"))
    }

    @Test(
        arguments: [
            (0x6969, "NFS"), (0xFF53_4D42, "SMB"), (-0x00AC_B2BE, "SMB"), (0x6573_5546, "FUSE"), (0x0102_1997, "9P"),
            (0xEF53, nil), (0x0102_1994, nil), (0x794C_7630, nil), (0x5846_5342, nil), (0x9123_683E, nil),
        ] as [(Int64, String?)])
    func knowsTheFileSystemsThatOthersWriteTo(number: Int64, name: String?) {
        #expect(FileSystemKind.remoteName(number) == name)
    }
}
