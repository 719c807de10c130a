import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferWatch

/// Files and folders whose names are equal as `String` (é as one scalar and as two), but different to the kernel.
@Suite(.timeLimit(.minutes(1))) struct EquivalentNameTests {
    static let composed = "\u{E9}"
    static let decomposed = "e\u{301}"
    static let names = [composed, decomposed]

    static let now = MonotonicTime(nanoseconds: 0)

    /// Returns a version that is the same file under both paths, as with hard links.
    static func version(_ path: String) -> FileVersion {
        FileVersion(device: 1, inode: 2, size: 3, modified: 4, path: path)
    }

    static func keys(_ paths: [String]) -> Set<PathKey> { Set(paths.map { PathKey($0) }) }

    private func make(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        try #require(file >= 0, "\(errno)")
        close(file)
    }

    @Test func filesWithEquivalentNamesAreEachTakenOnce() async throws {
        let stage = try await WatchStage().started()
        for name in Self.names { try make(stage.folder.path("in/" + name)) }
        await stage.uploads.wait { $0.taken.count == 2 }
        try await stage.passed()
        let taken = stage.uploads.state.taken
        #expect(taken.count == 3 && Self.keys(taken.map(\.path)) == Self.keys(Self.names + ["sentinel"]))
        #expect(taken.allSatisfy { $0.isCurrent(in: stage.watcher.root) })
        await stage.watcher.stop()
    }

    @Test func foldersAreBothReadAndWatched() async throws {
        let stage = try WatchStage()
        for name in Self.names {
            try Paths.makeFolder(stage.folder.path("in/" + name))
            try make(stage.folder.path("in/" + name + "/found"))
        }
        _ = await stage.started()
        for name in Self.names { try make(stage.folder.path("in/" + name + "/told")) }
        let state = await stage.uploads.wait { $0.taken.count == 4 }
        let paths = Self.names.flatMap { [$0 + "/found", $0 + "/told"] }
        #expect(Self.keys(state.taken.map(\.path)) == Self.keys(paths))
        // Each version is checked in its own folder.
        #expect(state.taken.allSatisfy { $0.isCurrent(in: stage.watcher.root) })
        await stage.watcher.stop()
    }

    @Test func equivalentNamesSettleSeparately() {
        var machine = SettleMachine(settle: .seconds(2), capacity: 4)
        for name in Self.names { #expect(machine.event(.closedAfterWriting, name, at: Self.now) == .none) }
        #expect(machine.count == 2)
        #expect(machine.event(.gone, Self.composed, at: Self.now) == .none)
        let due = machine.dueLooks(at: Self.now + .seconds(3), limit: 4)
        #expect(due.map { PathKey($0) } == [PathKey(Self.decomposed)])
    }

    @Test func equivalentNamesWaitForTheConsumerSeparately() {
        var waiting = WaitingFiles(capacity: 4, order: .oldest)
        for name in Self.names { waiting.add(Self.version(name), at: Self.now) }
        // The order is that of the bytes, since no other property decides.
        #expect(waiting.offer().map { PathKey($0.path) } == [PathKey(Self.decomposed), PathKey(Self.composed)])
        waiting.drop(Self.composed)
        _ = waiting.answered(handled: 0, at: Self.now)
        waiting.proceed()
        #expect(waiting.offer().map { PathKey($0.path) } == [PathKey(Self.decomposed)])
    }

    @Test func linksOfOneFileAreVersionsOfTheirOwn() {
        let versions = Self.names.map { Self.version($0) }
        #expect(versions[0] != versions[1] && versions[0].identity == versions[1].identity)
        var seen = SeenVersions()
        seen.insert(versions[0])
        let (isFirst, isSecond) = (seen.contains(versions[0]), seen.contains(versions[1]))
        #expect(isFirst && !isSecond)
    }

    @Test func aFolderIsForgottenWithoutTheOther() throws {
        var tree = FolderTree()
        let (first, second) = (
            tree.meet(Self.composed, in: FolderTree.root), tree.meet(Self.decomposed, in: FolderTree.root)
        )
        #expect(first != second && tree.count == 3)
        _ = tree.remove(try #require(first))
        #expect(tree.child(Self.composed, of: FolderTree.root) == nil)
        #expect(tree.child(Self.decomposed, of: FolderTree.root) == second)
    }

    @Test func eachIgnoredNameIsReported() {
        var reported = ReportedOnce()
        let isNew = Self.names.map { reported.isNew("link \($0)") }
        let isNewAgain = Self.names.map { reported.isNew("link \($0)") }
        #expect(isNew == [true, true] && isNewAgain == [false, false])
    }
}
