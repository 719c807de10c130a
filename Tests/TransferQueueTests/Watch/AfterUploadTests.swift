import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferStore

/// The treatment of a file after its upload, as the file system sees it.
@Suite struct AfterUploadTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("after")
        try folder.folder("in")
    }

    private func after(_ path: String, _ then: WatchSpec.Then) throws -> AfterUpload {
        let seen = try #require(FolderPlaces(folder.path("in")).file(path))
        let version = FileVersion(seen.stamp, path: path)
        return AfterUpload(
            row: HistoryRow(id: 7, version: version, state: .confirmed, digest: nil), root: folder.path("in"),
            then: then
        )
    }

    private func run(_ after: AfterUpload) -> AfterUpload.Outcome { after.run(FolderPlaces(after.root)).outcome }

    @Test func deletesTheVersionThatWasUploaded() throws {
        try folder.write("one", to: "in/sub/a")
        let after = try after("sub/a", .delete)
        #expect(run(after) == .deleted)
        #expect(run(after) == .notThere)
        let files = try folder.files(below: "in")
        #expect(files.isEmpty)
    }

    @Test(arguments: [false, true])
    func leavesAnotherVersionAlone(_ byRename: Bool) throws {
        try folder.write("one", to: "in/a")
        let after = try after("a", .delete)
        if byRename {
            try folder.write("one", to: "in/b")
            try folder.rename("in/b", "in/a")
        } else {
            try folder.write("second", to: "in/a")
        }
        #expect(run(after) == .notThere)
        let files = try folder.files(below: "in")
        #expect(files == ["a"])
    }

    /// The earlier content is unknown: the file is sent again rather than lost.
    @Test func leavesAFileAloneThatChangedAfterItWasSent() throws {
        try folder.write("one", to: "in/a")
        try folder.setTime("in/a", seconds: 1_000_000)
        let after = try after("a", .delete)
        try folder.write("two", to: "in/a")
        try folder.setTime("in/a", seconds: 1_000_000)
        #expect(run(after) == .rewritten)
        #expect(try folder.text("in/a") == "two")
    }

    /// The file has a new name or a new mode: its sent content identifies it.
    @Test func takesAFileWithTheSentContent() throws {
        try folder.write("one", to: "in/a")
        let sent = try SourceFile(folder.path("in/a"), readingUpTo: 100).sentFingerprint
        for (text, outcome) in [("one", AfterUpload.Outcome.deleted), ("two", .rewritten)] {
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            let then = try after("a", .delete)
            var row = then.row
            row.fingerprint = sent
            try folder.write(text, to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            #expect(run(AfterUpload(row: row, root: then.root, then: then.then)) == outcome)
        }
    }

    /// The hidden name was given by the program, so it is no change.
    @Test func reportsARestoredName() throws {
        try folder.write("one", to: "in/a")
        try folder.write("no folder", to: "target")
        let after = try after("a", .move(to: folder.path("target")))
        let result = after.run(FolderPlaces(after.root))
        guard case .stays = result.outcome else { throw TestSupportError("\(result)") }
        let seen = try #require(FolderPlaces(after.root).file("a"))
        #expect(result.givenBack == seen.stamp.changed && seen.stamp.changed != after.row.version.stamp.changed)
    }

    /// Editors of song tags change the content and keep the time.
    @Test func leavesAFileAloneThatWasRewrittenWithItsSizeAndItsTime() throws {
        try folder.write("one", to: "in/a")
        try folder.setTime("in/a", seconds: 1_000_000)
        var after = try after("a", .delete)
        let one = Checksum(.sha256, hex: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
        let row = HistoryRow(id: 7, version: after.row.version, state: .confirmed, digest: one)
        after = AfterUpload(row: row, root: after.root, then: after.then)
        try folder.write("two", to: "in/a")
        try folder.setTime("in/a", seconds: 1_000_000)
        #expect(run(after) == .rewritten)
        #expect(try folder.text("in/a") == "two")
        // A new mode is a change as well, though not of the sent content.
        try folder.write("one", to: "in/a")
        try folder.setTime("in/a", seconds: 1_000_000)
        chmod(folder.path("in/a"), 0o600)
        #expect(run(after) == .deleted)
    }

    @Test func leavesAFileAloneThatIsBeingWritten() throws {
        try folder.write("one", to: "in/a")
        let after = try after("a", .delete)
        let descriptor = open(folder.path("in/a"), O_WRONLY)
        try #require(descriptor >= 0)
        let outcome = run(after)
        close(descriptor)
        #expect(outcome == .notThere)
        #expect(folder.exists("in/a"))
        #expect(run(after) == .deleted)
    }

    @Test func continuesAfterAKilledProcess() throws {
        try folder.write("one", to: "in/a")
        let after = try after("a", .move(to: folder.path("out")))
        try folder.rename("in/a", "in/" + after.hiddenName)
        try folder.write("new", to: "in/a")
        #expect(run(after) == .moved(to: folder.path("out/a")))
        let (old, new) = (try folder.text("out/a"), try folder.text("in/a"))
        #expect(old == "one" && new == "new")
    }

    @Test func movesWithItsFoldersAndNeverOverwrites() throws {
        try folder.write("one", to: "in/x/y/a.txt")
        try folder.write("there", to: "out/x/y/a.txt")
        try folder.write("there too", to: "out/x/y/a.1.txt")
        let after = try after("x/y/a.txt", .move(to: folder.path("out/")))
        #expect(run(after) == .moved(to: folder.path("out/x/y/a.2.txt")))
        let texts = try ["a.txt", "a.1.txt", "a.2.txt"].map { try folder.text("out/x/y/" + $0) }
        #expect(texts == ["there", "there too", "one"])
    }

    @Test func movesAcrossFileSystemsWithTimeAndMode() throws {
        let other = try OtherFileSystem(than: folder)
        try folder.write(count: 3_000_000, seed: 5, to: "in/a")
        chmod(folder.path("in/a"), 0o640)
        let after = try after("a", .move(to: other.path))
        let content = try folder.data("in/a")
        #expect(run(after) == .moved(to: other.path + "/a"))
        let copy = try Data(contentsOf: URL(fileURLWithPath: other.path + "/a"))
        let seen = try #require(FolderPlaces(other.path).file("a"))
        var status = stat()
        stat(other.path + "/a", &status)
        #expect(copy == content && seen.stamp.modified == after.row.version.modified && status.st_mode & 0o777 == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["a"])
        let left = try folder.files(below: "in")
        #expect(left.isEmpty)
    }

    @Test func aCopyThatIsGivenUpLeavesEverythingAsItWas() throws {
        let other = try OtherFileSystem(than: folder)
        try folder.write(count: 3_000_000, seed: 5, to: "in/a")
        let content = try folder.data("in/a")
        let after = try after("a", .move(to: other.path))
        var stopped = after
        let asked = Mutex(0)
        stopped.isStopped = {
            asked.withLock { count in
                count += 1
                return count > 2
            }
        }
        #expect(run(stopped) == .stopped)
        let there = try FileManager.default.contentsOfDirectory(atPath: other.path)
        let (files, left) = (try folder.files(below: "in"), try folder.data("in/a"))
        #expect(there.isEmpty && files == ["a"] && left == content)
        // The file got its name back, which is noted.
        #expect(run(try self.after("a", .move(to: other.path))) == .moved(to: other.path + "/a"))
    }

    /// The process was killed between the naming of the copy and the removal of the original.
    @Test func aCopyThatIsThereAlreadyIsNotMadeTwice() throws {
        let other = try OtherFileSystem(than: folder)
        try folder.write("one", to: "in/a")
        let after = try after("a", .move(to: other.path))
        try #require(run(after) == .moved(to: other.path + "/a"))
        let time = Int(after.row.version.modified)
        try folder.write("one", to: "in/" + after.hiddenName)
        try folder.setTime(
            "in/" + after.hiddenName, seconds: time / 1_000_000_000, nanoseconds: time % 1_000_000_000)
        let hidden = try #require(FolderPlaces(folder.path("in")).file(after.hiddenName))
        var version = after.row.version
        version.stamp.inode = hidden.stamp.inode
        // The hidden name follows from the inode.
        let again = AfterUpload(
            row: HistoryRow(id: 7, version: version, state: .confirmed, digest: nil), root: after.root, then: after.then
        )
        try folder.rename("in/" + after.hiddenName, "in/" + again.hiddenName)
        #expect(run(again) == .moved(to: other.path + "/a"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["a"])
    }

    @Test func anUnmovableFileStaysUnderItsName() throws {
        try folder.write("one", to: "in/a")
        try folder.write("no folder", to: "file")
        let after = try after("a", .move(to: folder.path("file")))
        guard case .stays(let error) = run(after) else {
            Issue.record("it was moved")
            return
        }
        #expect(error.code == .fileAccess || error.errno == ENOTDIR)
        let files = try folder.files(below: "in")
        #expect(files == ["a"])
    }

    @Test func linksAreNotFollowed() throws {
        try folder.write("one", to: "outside/a")
        try folder.write("one", to: "in/real")
        let real = try after("real", .delete)
        try #require(symlink(folder.path("outside"), folder.path("in/link")) == 0)
        try #require(symlink("real", folder.path("in/name")) == 0)
        for path in ["link/a", "name"] {
            var version = real.row.version
            version.path = path
            let outcome = run(
                AfterUpload(
                    row: HistoryRow(id: 8, version: version, state: .confirmed, digest: nil), root: real.root,
                    then: .delete))
            #expect(outcome == .notThere)
        }
        #expect(folder.exists("outside/a") && folder.exists("in/real"))
    }

    /// The rules may have changed since the process that hid the file.
    @Test func aFileKeptAfterAllGetsItsNameBack() throws {
        try folder.write("one", to: "in/a")
        let delete = try after("a", .delete)
        try folder.rename("in/a", "in/" + delete.hiddenName)
        let keep = AfterUpload(row: delete.row, root: delete.root, then: .keep)
        #expect(run(keep) == .kept)
        let files = try folder.files(below: "in")
        #expect(files == ["a"])
    }

    /// The error is one that every user gets, whatever their rights.
    @Test(arguments: ["", "/a"]) func aFileThatTheKernelDoesNotShowStays(_ rest: String) throws {
        try folder.write("one", to: "in/a")
        let after = try after("a", .delete)
        var version = after.row.version
        version.path = String(repeating: "x", count: 300) + rest
        let unseen = AfterUpload(
            row: HistoryRow(id: 7, version: version, state: .confirmed, digest: nil), root: after.root, then: .delete)
        guard case .stays(let error) = run(unseen) else {
            Issue.record("it is taken for gone")
            return
        }
        #expect(error.errno == ENAMETOOLONG)
    }

    @Test func aMissingFolderIsNotAMissingFile() throws {
        try folder.write("one", to: "in/a")
        let after = try after("a", .delete)
        try folder.rename("in", "away")
        #expect(run(after) == .noFolder)
    }
}

/// A folder in memory, on a file system other than that of most temporary folders.
final class OtherFileSystem {
    let path: String

    init(than folder: TemporaryFolder) throws {
        var (one, two) = (stat(), stat())
        var template = Array("/dev/shm/transfer-after.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        stat(path, &one)
        stat(folder.path, &two)
        try #require(one.st_dev != two.st_dev, "TMPDIR is on /dev/shm")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
