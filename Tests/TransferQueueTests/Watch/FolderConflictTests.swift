import Glibc
import Testing
import TransferCore
import TransferTestSupport
import TransferWatch

@testable import TransferJobs

/// Watched folders that cannot be watched together, by the targets of their paths.
@Suite struct FolderConflictTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("conflict") }

    private func spec(_ path: String, _ then: WatchSpec.Then = .keep, recursive: Bool = false) -> WatchSpec {
        var spec = WatchSpec(folder: folder.path(path), url: "https://a.example/\(path)/{name}")
        spec.then = then
        spec.rules.isRecursive = recursive
        return spec
    }

    private func move(_ path: String) -> WatchSpec.Then { .move(to: folder.path(path)) }

    private func make(_ folders: String...) throws {
        for path in folders { _ = try folder.folder(path) }
    }

    private func link(_ path: String, to target: String) throws {
        try #require(symlink(folder.path(target), folder.path(path)) == 0)
    }

    @Test(arguments: ["w", "alias", "w/s/..", "alias/done", "w/done"])
    func aMoveIntoTheFolderIsRefusedByAnyName(target: String) throws {
        try make("w/s")
        try link("alias", to: "w")
        #expect(FolderConflict.first(of: spec("w", move(target), recursive: true), among: []) != nil)
        #expect(FolderConflict.first(of: spec("alias", move(target), recursive: true), among: []) != nil)
    }

    @Test func aMoveOutsideOrToAnExcludedPlaceIsAllowed() throws {
        try make("w/s", "out")
        try link("alias", to: "w")
        #expect(FolderConflict.first(of: spec("w", move("out"), recursive: true), among: []) == nil)
        // The folder is not watched with its subfolders.
        #expect(FolderConflict.first(of: spec("w", move("alias/done")), among: []) == nil)
        var excluding = spec("w", move("alias/done"), recursive: true)
        excluding.rules.exclude = [try GlobPattern("done")]
        #expect(FolderConflict.first(of: excluding, among: []) == nil)
    }

    @Test func circlesOfMovesAreRefusedAndChainsAreNot() throws {
        try make("a", "b", "c", "out")
        try link("to-a", to: "a")
        let chain = [spec("a", move("b")), spec("b", move("c")), spec("c", move("out"))]
        #expect(FolderConflict.first(among: chain) == nil)
        let circle = [spec("a", move("b")), spec("b", move("c")), spec("c", move("to-a"))]
        #expect(FolderConflict.first(among: circle)?.folders.count == 3)
        #expect(FolderConflict.first(of: circle[2], among: Array(circle[..<2])) != nil)
    }

    @Test func oneFolderIsWatchedOnce() throws {
        try make("a")
        try link("b", to: "a")
        #expect(FolderConflict.first(among: [spec("a"), spec("b")])?.message.contains("the same folder") == true)
    }

    /// The arguments are whether the outer folder has subfolders, the treatment of files in both folders, and whether
    /// that is refused.
    @Test(arguments: [
        (true, WatchSpec.Then.keep, WatchSpec.Then.keep, false), (true, .delete, .keep, true),
        (true, .keep, .delete, true), (false, .delete, .delete, false),
    ])
    func nestedFoldersThatTakeEachOthersFiles(
        isRecursive: Bool, outer: WatchSpec.Then, inner: WatchSpec.Then, isRefused: Bool
    ) throws {
        try make("w/s")
        try link("inner", to: "w/s")
        let specs = [spec("w", outer, recursive: isRecursive), spec("inner", inner)]
        #expect((FolderConflict.first(among: specs) != nil) == isRefused)
    }

    /// A bind mount has different names and the same place in the file system.
    @Test func placesWithinAFileSystemAreCompared() {
        func place(_ names: [String], _ within: [String], missing: [String] = []) -> FolderPlace {
            FolderPlace(
                steps: names.enumerated().map { index, name in
                    FolderPlace.Step(device: 9, inode: UInt64(100 + index + names.count * 10), name: name)
                },
                location: .init(device: "8:1", names: within), missing: missing)
        }
        let watched = place(["srv", "in"], ["in"])
        #expect(place(["mnt", "x", "y"], ["in", "sub"], missing: ["done"]).path(from: watched) == ["sub", "done"])
        #expect(place(["mnt", "x", "y"], ["inner"]).path(from: watched) == nil)
    }

    @Test func aMountTableIsRead() {
        let table = MountTable(
            """
            29 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            40 29 8:1 /srv/in /mnt/a\\040b rw,relatime shared:1 - ext4 /dev/sda1 rw
            """)
        #expect(table.location(ofMount: 29, ["srv", "in"]) == .init(device: "8:1", names: ["srv", "in"]))
        #expect(table.location(ofMount: 40, ["mnt", "a b", "x"]) == .init(device: "8:1", names: ["srv", "in", "x"]))
        #expect(table.location(ofMount: 40, ["mnt", "other"]) == nil && table.location(ofMount: 7, []) == nil)
    }

    @Test func foldersWithOneDestinationAreReported() {
        var (one, other) = (spec("a"), spec("b"))
        #expect(FolderConflict.sharedDestination(among: [one, other]) == nil)
        (one.url, other.url) = ("https://a.example/in/{name}", "https://A.example:443/x/../in/{name}")
        #expect(FolderConflict.sharedDestination(among: [one, other]) != nil)
        (one.url, other.url) = ("https://a.example/{sha256}", "https://a.example/{sha256}")
        #expect(FolderConflict.sharedDestination(among: [one, other]) == nil)
    }
}
