import CTransferLinux
import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

@Suite(.timeLimit(.minutes(2))) struct FolderWatcherTests {
    @Test func existingAndNewFilesAreTaken() async throws {
        let stage = try WatchStage()
        try stage.folder.write("old", to: "in/old")
        try stage.folder.write("deep", to: "in/a/b/deep")
        for name in ["x.part", ".hidden", "y~", ".git/config"] { try stage.folder.write("no", to: "in/\(name)") }
        _ = await stage.started()
        #expect(stage.uploads.paths == ["a/b/deep", "old"])
        try stage.folder.write("new!", to: "in/a/new")
        let state = await stage.uploads.wait(for: ["a/new"])
        let version = try #require(state.taken.last)
        #expect(version.size == 4 && version.isCurrent(in: stage.watcher.root))
        try stage.folder.write("newer", to: "in/a/new")
        #expect(!version.isCurrent(in: stage.watcher.root))
        #expect(state.events.prefix(2) == [.rootFound, .caughtUp(WatchSummary(folders: 3, polledFolders: 0))])
        await stage.watcher.stop()
    }

    @Test func aFileWrittenSlowlyIsTakenOnceItIsClosed() async throws {
        let stage = try await WatchStage().started()
        let descriptor = open(stage.folder.path("in/slow"), O_WRONLY | O_CREAT, 0o644)
        for round in 0..<5 {
            _ = write(descriptor, "0123456789", 10)
            // The time between two writes is longer than the settle time.
            try await stage.passed("sentinel\(round)")
            #expect(!stage.uploads.paths.contains("slow"))
        }
        close(descriptor)
        let state = await stage.uploads.wait(for: ["slow"])
        #expect(state.taken.filter { $0.path == "slow" }.map(\.size) == [50])
    }

    @Test func aFileThatWasOpenWhenWatchingBeganIsTakenOnceItIsClosed() async throws {
        let stage = try WatchStage()
        let descriptor = open(stage.folder.path("in/open"), O_WRONLY | O_CREAT, 0o644)
        _ = write(descriptor, "01234", 5)
        // By the file's times alone it would be finished.
        let place = try Place.root(stage.watcher.root)
        let looker = FileLooker(root: stage.watcher.root)
        while (looker.sight("open", in: place.descriptor).look?.quietFor ?? .zero) < .milliseconds(60) {
            await Task.yield()
        }
        _ = await stage.started()
        try await stage.passed()
        #expect(stage.uploads.paths == ["sentinel"])
        _ = write(descriptor, "56789", 5)
        close(descriptor)
        let state = await stage.uploads.wait(for: ["open"])
        #expect(state.taken.filter { $0.path == "open" }.map(\.size) == [10])
    }

    @Test func aFileThatGetsItsNameWhenItIsWrittenIsTaken() async throws {
        let stage = try await WatchStage().started()
        let descriptor = transfer_open_unnamed(stage.folder.path("in"))
        try #require(descriptor >= 0)
        _ = write(descriptor, "01234", 5)
        try #require(transfer_name(descriptor, stage.folder.path("in/named")) == 0)
        try await stage.passed()
        #expect(stage.uploads.paths == ["sentinel"])
        close(descriptor)
        await stage.uploads.wait(for: ["named"])
    }

    @Test func aRewrittenFileIsANewVersion() async throws {
        let stage = try await WatchStage().started()
        try stage.folder.write("1", to: "in/f")
        await stage.uploads.wait(for: ["f"])
        try stage.folder.write("22", to: "in/f")
        let state = await stage.uploads.wait { $0.taken.count == 2 }
        #expect(state.taken.map(\.size) == [1, 2] && state.taken.map(\.path) == ["f", "f"])
    }

    @Test func aFileRewrittenBeforeItSettledIsTakenOnce() async throws {
        let stage = try await WatchStage().started()
        for size in 1...20 { try stage.folder.write(String(repeating: "x", count: size), to: "in/f") }
        try await stage.passed()
        let sizes = stage.uploads.state.taken.filter { $0.path == "f" }.map(\.size)
        #expect(sizes.last == 20)
    }

    @Test func aFileDeletedBeforeItSettledIsNotTaken() async throws {
        let stage = try await WatchStage { $0.settle = .milliseconds(100) }.started()
        try stage.folder.write("x", to: "in/gone")
        try Paths.remove(stage.folder.path("in/gone"))
        try await stage.passed()
        #expect(stage.uploads.paths == ["sentinel"])
    }

    @Test func aTemporaryNameIsLeftAloneUntilItIsRenamed() async throws {
        let stage = try await WatchStage().started()
        for name in ["a.part", "b.crdownload", ".c.mp4.Xy12"] { try stage.folder.write("data", to: "in/\(name)") }
        try await stage.passed()
        #expect(stage.uploads.paths == ["sentinel"])
        try Paths.rename(stage.folder.path("in/a.part"), stage.folder.path("in/a"))
        try Paths.rename(stage.folder.path("in/.c.mp4.Xy12"), stage.folder.path("in/c.mp4"))
        await stage.uploads.wait(for: ["a", "c.mp4"])
        #expect(stage.uploads.paths == ["a", "c.mp4", "sentinel"])
    }

    @Test func aFileMovedInIsTakenAndOneMovedOutIsNot() async throws {
        let stage = try await WatchStage { $0.settle = .milliseconds(100) }.started()
        try stage.folder.write("x", to: "elsewhere")
        try Paths.rename(stage.folder.path("elsewhere"), stage.folder.path("in/came"))
        try stage.folder.write("x", to: "in/leaves")
        try Paths.rename(stage.folder.path("in/leaves"), stage.folder.path("left"))
        try await stage.passed()
        #expect(stage.uploads.paths == ["came", "sentinel"])
    }

    @Test func takesOnlyWhatTheRulesLetIn() async throws {
        let stage = try WatchStage {
            $0.rules.include = (try? GlobPattern("*.mp4")).map { [$0] } ?? []
            $0.rules.exclude = (try? GlobPattern("draft/")).map { [$0] } ?? []
        }
        try stage.folder.write("1", to: "in/a.txt")
        try stage.folder.write("1", to: "in/draft/a.mp4")
        _ = await stage.started()
        try stage.folder.write("1", to: "in/b.txt")
        try stage.folder.write("1", to: "in/draft/b.mp4")
        try stage.folder.write("1", to: "in/sub/b.mp4")
        try await stage.passed("z.mp4")
        await stage.uploads.wait(for: ["sub/b.mp4"])
        #expect(stage.uploads.paths == ["sub/b.mp4", "z.mp4"])
    }

    @Test func notRecursiveItLeavesSubFoldersAlone() async throws {
        let stage = try WatchStage { $0.rules.isRecursive = false }
        try stage.folder.write("1", to: "in/sub/a")
        try stage.folder.write("1", to: "in/b")
        _ = await stage.started()
        try stage.folder.write("1", to: "in/sub/c")
        try stage.folder.write("1", to: "in/new/d")
        try await stage.passed()
        #expect(stage.uploads.paths == ["b", "sentinel"])
    }

    // MARK: Folders

    @Test func filesThatAreInANewFolderBeforeItIsWatchedAreFound() async throws {
        let stage = try await WatchStage { $0.settle = .milliseconds(5) }.started()
        for round in 0..<200 {
            let deep = stage.folder.path("in/r\(round)/a/b")
            for folder in [stage.folder.path("in/r\(round)"), stage.folder.path("in/r\(round)/a"), deep] {
                try Paths.makeFolder(folder)
                close(open(folder + "/f", O_WRONLY | O_CREAT, 0o644))
            }
        }
        let state = await stage.uploads.wait { $0.taken.count >= 600 }
        #expect(Set(state.taken.map(\.path)).count == 600 && state.taken.count == 600)
    }

    @Test func aRenamedFolderStaysWatchedUnderItsNewName() async throws {
        let stage = try WatchStage()
        try stage.folder.write("1", to: "in/old/sub/first")
        _ = await stage.started()
        let descriptor = open(stage.folder.path("in/old/sub/open"), O_WRONLY | O_CREAT, 0o644)
        try Paths.rename(stage.folder.path("in/old"), stage.folder.path("in/new"))
        _ = write(descriptor, "x", 1)
        close(descriptor)
        try stage.folder.write("2", to: "in/new/sub/second")
        let state = await stage.uploads.wait(for: ["new/sub/first", "new/sub/open", "new/sub/second"])
        // The same version under another path, in the form that the consumer receives.
        let first = state.taken.filter { $0.name == "first" }
        #expect(Set(first.map(\.path)) == ["old/sub/first", "new/sub/first"])
        #expect(Set(first.map(\.identity)).count == 1)
        #expect(!stage.uploads.paths.contains("old/sub/open"))
    }

    @Test func aFolderMovedOutIsNoLongerWatched() async throws {
        let stage = try WatchStage()
        try stage.folder.folder("in/out/sub")
        _ = await stage.started()
        try Paths.rename(stage.folder.path("in/out"), stage.folder.path("out"))
        try stage.folder.write("1", to: "out/sub/f")
        try await stage.passed()
        await stage.uploads.wait {
            $0.events.count > 1 && $0.events.last == .caughtUp(WatchSummary(folders: 1, polledFolders: 0))
        }
        #expect(stage.uploads.paths == ["sentinel"])
        // The folder comes back with files that were added outside.
        try Paths.rename(stage.folder.path("out"), stage.folder.path("in/back"))
        await stage.uploads.wait(for: ["back/sub/f"])
    }

    @Test func aRemovedFolderThatIsMadeAgainIsWatchedAgain() async throws {
        let stage = try await WatchStage().started()
        for round in 0..<20 {
            try stage.folder.write("x", to: "in/sub/f\(round)")
            await stage.uploads.wait(for: ["sub/f\(round)"])
            try FileManager.default.removeItem(atPath: stage.folder.path("in/sub"))
        }
    }

    // MARK: Links

    @Test func linksThatLeadOutAreIgnoredAndReportedOnce() async throws {
        let stage = try WatchStage()
        try stage.folder.write("secret", to: "outside/secret")
        try Paths.symlink(stage.folder.path("outside/secret"), stage.folder.path("in/link"))
        try Paths.symlink(stage.folder.path("outside"), stage.folder.path("in/folder"))
        try Paths.symlink("nowhere", stage.folder.path("in/dangling"))
        _ = await stage.started()
        try Paths.symlink("../outside/secret", stage.folder.path("in/late"))
        stage.watcher.rescan()
        try await stage.passed()
        await stage.uploads.waitForEvent { $0 == .leftAlone(path: "late", .linkLeadsOutside) }
        let state = stage.uploads.state
        #expect(state.taken.map(\.path) == ["sentinel"])
        for name in ["link", "folder", "dangling"] {
            let reported = state.events.filter { $0 == .leftAlone(path: name, .linkLeadsOutside) }
            #expect(reported.count == 1, "\(name)")
        }
    }

    @Test func aLinkToAFileInsideIsANameOfIt() async throws {
        let stage = try WatchStage()
        try stage.folder.write("content", to: "in/sub/file")
        try Paths.symlink("sub/file", stage.folder.path("in/before"))
        _ = await stage.started()
        try Paths.symlink(stage.folder.path("in/sub/file"), stage.folder.path("in/after"))
        let state = await stage.uploads.wait(for: ["sub/file", "before", "after"])
        #expect(state.taken.count == 3 && Set(state.taken.map(\.identity)).count == 1)
    }

    @Test func eachHardLinkIsANameOfTheSameVersion() async throws {
        let stage = try await WatchStage().started()
        try stage.folder.write("content", to: "in/first")
        await stage.uploads.wait(for: ["first"])
        try Paths.link(stage.folder.path("in/first"), stage.folder.path("in/second"))
        let state = await stage.uploads.wait(for: ["second"])
        #expect(state.taken.count == 2 && Set(state.taken.map(\.identity)).count == 1)
        // A write through one name makes a new version of that name.
        let file = open(stage.folder.path("in/second"), O_WRONLY | O_APPEND)
        _ = write(file, "more", 4)
        close(file)
        let after = await stage.uploads.wait { $0.taken.count == 3 }
        #expect(after.taken.last?.path == "second" && after.taken.last?.size == 11)
    }

    @Test func aNameThatIsNoTextIsIgnoredAndReported() async throws {
        let stage = try WatchStage()
        let name = Array(stage.folder.path("in/bad").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        close(open(name, O_WRONLY | O_CREAT, 0o644))
        _ = await stage.started()
        try await stage.passed()
        #expect(stage.uploads.paths == ["sentinel"])
        #expect(stage.uploads.state.events.contains(.leftAlone(path: "bad\u{FFFD}", .nameIsNotText)))
    }
}
