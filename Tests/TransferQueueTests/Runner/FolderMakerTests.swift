import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The durability of new folders: a file is only as durable as the names that lead to it.
@Suite struct FolderMakerTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("folders") }

    @Test func foldersAreMadeFromTheOutermostOn() throws {
        let made = try FolderMaker.makeParents(of: folder.path("a/b/c/file"))
        #expect(made == ["a", "a/b", "a/b/c"].map { folder.path($0) })
        #expect(try FolderMaker.makeParents(of: folder.path("a/b/c/file")).isEmpty)
        #expect(try FolderMaker.makeParents(of: folder.path("a/b/d/file")) == [folder.path("a/b/d")])
    }

    @Test func theNamesOfNewFoldersAreSyncedUpToAnExistingOne() throws {
        let census = FolderCache()
        census.noteMade(try FolderMaker.makeParents(of: folder.path("a/b/c/file")))
        census.noteMade(try FolderMaker.makeParents(of: folder.path("a/b/d/file")))
        var synced: [String] = []
        census.sync([folder.path("a/b/c"), folder.path("a/b/d")]) { synced.append($0) }
        #expect(Set(synced) == Set(["a/b/c", "a/b/d", "a/b", "a"].map { folder.path($0) } + [folder.path]))
        #expect(synced.count == 5, "each once")
        synced = []
        census.sync([folder.path("a/b/c")]) { synced.append($0) }
        #expect(synced == [folder.path("a/b/c")], "the others' names are on the disk")
    }

    /// The folder of the link's target is written to, which the job names nowhere.
    @Test func aFailureBehindALinkNamesTheLink() {
        let denied = TransferError(.fileAccess, "cannot write to /b", cause: .os(errno: EACCES))
        let words = DestinationName.leading(denied, from: "/a/x", to: "/b/y").message
        #expect(words.hasPrefix("cannot write to /b; /a/x is a symbolic link to /b/y"), "\(words)")
        #expect(DestinationName.leading(denied, from: "/b/y", to: "/b/y") == denied)
        let full = TransferError(.fileAccess, "no space", cause: .os(errno: ENOSPC))
        #expect(DestinationName.leading(full, from: "/a/x", to: "/b/y") == full)
    }

    @Test func aDanglingLinkInThePathIsNamed() throws {
        symlink("/nowhere/at/all", folder.path("link"))
        do {
            _ = try FolderMaker.makeParents(of: folder.path("link/file"))
            Issue.record("made")
        } catch {
            #expect(error.message.contains("\(folder.path("link")) is a symbolic link to nothing"), "\(error)")
        }
    }
}
