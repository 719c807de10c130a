import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

@Suite(.timeLimit(.minutes(2))) struct WatcherTroubleTests {
    // MARK: The watched folder

    @Test func aDeletedRootIsReportedAndWatchedAgainOnceItIsBack() async throws {
        let stage = try WatchStage(root: "in", { $0.pollInterval = .seconds(600) })
        try stage.folder.write("1", to: "in/sub/a")
        _ = await stage.started()
        for round in 0..<10 {
            try FileManager.default.removeItem(atPath: stage.folder.path("in"))
            await stage.uploads.wait { $0.events.filter(\.isLost).count == round + 1 }
            try stage.folder.write("1", to: "in/sub/b\(round)")
            await stage.uploads.wait(for: ["sub/b\(round)"])
            #expect(stage.uploads.state.events.filter { $0 == .rootReturned }.count == round + 1)
        }
        let lost = stage.uploads.state.events.first { $0.isLost }
        guard case .rootLost(let error)? = lost else { return }
        #expect(error.code == .fileMissing && error.message.contains(stage.folder.path("in")))
    }

    @Test func aRootThatMovesAwayWithAFolderAboveIsLostUntilItIsBack() async throws {
        let stage = try WatchStage(root: "above/between/in", { $0.pollInterval = .seconds(600) })
        _ = await stage.started()
        try Paths.rename(stage.folder.path("above"), stage.folder.path("away"))
        await stage.uploads.waitForEvent(\.isLost)
        // The file is in neither the old folder nor the new one.
        try stage.folder.write("1", to: "away/between/in/a")
        try Paths.rename(stage.folder.path("away"), stage.folder.path("above"))
        await stage.uploads.wait(for: ["a"])
        #expect(stage.uploads.state.events.contains(.rootReturned))
    }

    @Test func anotherFolderInTheRootsPlaceIsReadFromTheBeginning() async throws {
        let stage = try WatchStage({ $0.pollInterval = .seconds(600) })
        try stage.folder.write("1", to: "in/a")
        try stage.folder.write("1", to: "other/b")
        _ = await stage.started()
        try Paths.rename(stage.folder.path("in"), stage.folder.path("away"))
        try Paths.rename(stage.folder.path("other"), stage.folder.path("in"))
        await stage.uploads.wait(for: ["b"])
        try stage.folder.write("1", to: "away/c")
        try await stage.passed()
        #expect(stage.uploads.paths == ["a", "b", "sentinel"])
    }

    @Test func aRootThatIsMissingAtTheStartIsWaitedFor() async throws {
        let stage = try WatchStage(root: "far/away/in", makesRoot: false, { $0.pollInterval = .seconds(600) })
        stage.watcher.start()
        await stage.uploads.waitForEvent(\.isLost)
        // The folders are made one by one, with unrelated ones in between.
        for name in ["far", "far/other", "far/away", "far/away/other", "far/away/in"] {
            try Paths.makeFolder(stage.folder.path(name))
        }
        try stage.folder.write("1", to: "far/away/in/a")
        await stage.uploads.wait(for: ["a"])
    }

    /// The watcher resolves the link before it asks the kernel to watch it.
    @Test func aLinkThatIsTurnedWhileItIsBeingWatchedIsFollowed() async throws {
        let folder = try TemporaryFolder("turned")
        for (name, target) in [("in", "first"), ("same", "first"), ("next", "second")] {
            try Paths.symlink(try folder.folder(target), folder.path(name))
        }
        let (link, next) = (folder.path("in"), folder.path("next"))
        let isTurned = Mutex(true)
        var kernel = WatchKernel.linux
        kernel.add = { descriptor, path, mask in
            if path == link, isTurned.withLock({ exchange(&$0, with: true) }) == false { rename(next, link) }
            return WatchKernel.linux.add(descriptor, path, mask)
        }
        let stage = try WatchStage(in: folder, makesRoot: false, kernel: kernel) { $0.pollInterval = .seconds(600) }
        _ = await stage.started()
        isTurned.withLock { $0 = false }
        try Paths.rename(folder.path("same"), link)
        try folder.write("1", to: "second/a")
        await stage.uploads.wait(for: ["a"])
    }

    /// The technique of release switchers: a rename replaces the link atomically.
    @Test(arguments: ["in", "in/link/beneath"]) func aLinkOnTheWayToTheRootThatLeadsElsewhereIsFollowed(
        _ root: String
    ) async throws {
        let folder = try TemporaryFolder("watch")
        let link = root == "in" ? "in" : "in/link"
        for name in ["first", "second"] {
            try folder.write("1", to: (root == "in" ? name : name + "/beneath") + "/of-" + name)
        }
        if root != "in" { try folder.folder("in") }
        try Paths.symlink(folder.path("first"), folder.path(link))
        let stage = try WatchStage(in: folder, root: root, makesRoot: false, { $0.pollInterval = .seconds(600) })
        _ = await stage.started()
        // The first replacement leads to the same folder.
        try Paths.symlink(folder.path("first"), folder.path("same"))
        try Paths.rename(folder.path("same"), folder.path(link))
        try folder.write("1", to: (root == "in" ? "first" : "first/beneath") + "/later")
        await stage.uploads.wait(for: ["later"])
        try Paths.symlink(folder.path("second"), folder.path("next"))
        try Paths.rename(folder.path("next"), folder.path(link))
        await stage.uploads.wait(for: ["of-second"])
        #expect(stage.uploads.paths == ["later", "of-first", "of-second"])
        #expect(stage.uploads.state.events.contains(.rootReturned))
    }

    @Test func aRootThatIsNoFolderIsLost() async throws {
        let folder = try TemporaryFolder("watch")
        try folder.write("file", to: "in")
        let stage = try WatchStage(in: folder, makesRoot: false)
        stage.watcher.start()
        await stage.uploads.waitForEvent(\.isLost)
    }

    /// inotify reports no mounts. The folder belongs to the test, and no other process uses it.
    @Test(.enabled(if: Mounts.arePossible, "needs the right to mount")) func aMountOnTheRootIsRead() async throws {
        let stage = try WatchStage({ $0.pollInterval = .seconds(600) })
        try stage.folder.write("1", to: "in/a")
        _ = await stage.started()
        let mount = try Mounts(on: stage.watcher.root)
        await stage.uploads.waitForEvent { $0 == .rootReturned }
        try stage.folder.write("1", to: "in/mounted")
        await stage.uploads.wait(for: ["mounted"])
        mount.end()
        await stage.uploads.wait { $0.events.filter { $0 == .rootReturned }.count == 2 }
        try await stage.passed()
        #expect(stage.uploads.paths == ["a", "mounted", "sentinel"])
    }

    @Test func aMissingRootIsFoundWithoutAnEventOfTheKernel() async throws {
        var kernel = WatchKernel.linux
        kernel.create = { -EMFILE }
        let stage = try WatchStage(root: "nowhere/in", makesRoot: false, kernel: kernel)
        stage.watcher.start()
        await stage.uploads.waitForEvent(\.isLost)
        // Without any event of the kernel, the watcher looks for the folder periodically.
        try stage.folder.write("1", to: "nowhere/in/a")
        await stage.uploads.wait(for: ["a"])
    }

    // MARK: Lost events

    @Test func anOverflowReadsEverythingAgain() async throws {
        let stage = try WatchStage()
        try stage.folder.write("1", to: "in/sub/a")
        _ = await stage.started()
        let before = stage.uploads.state.offered
        _ = await stage.watcher.withMachine { $0.take(.overflowed, at: .now) }
        await stage.uploads.wait { $0.offered > before && $0.events.last.map { $0 != .overflowed } == true }
        #expect(stage.uploads.state.events.contains(.overflowed))
        #expect(stage.uploads.paths == ["sub/a"])
    }

    @Test func eventsLostWhileTheLoopIsBlockedAreFound() async throws {
        let limit = try #require(WatchKernel.linux.limit("fs.inotify.max_queued_events"))
        try #require(limit < 100_000, "this machine's queue is too long to be filled here")
        let count = limit / 2 + 2000
        let stage = try await WatchStage({ $0.capacity = 1000 }).started()
        try stage.folder.folder("in/was")
        try await stage.passed("first")
        let gate = DispatchSemaphore(value: 0)
        await withCheckedContinuation { isHeld in
            stage.loop.execute {
                isHeld.resume()
                gate.wait()
            }
        }
        // Each file causes two events, for its creation and its closing. The last events are lost, among them a
        // folder's rename.
        for number in 0..<count { close(open(stage.folder.path("in/f\(number)"), O_WRONLY | O_CREAT, 0o644)) }
        try Paths.rename(stage.folder.path("in/was"), stage.folder.path("in/is"))
        try stage.folder.write("x", to: "in/is/deep")
        gate.signal()
        let state = await stage.uploads.wait { $0.taken.count >= count + 2 }
        #expect(state.events.contains(.overflowed))
        #expect(Set(state.taken.map(\.path)).count == count + 2 && state.taken.count == count + 2)
        // The watch of the renamed folder has the new name.
        try stage.folder.write("x", to: "in/is/after")
        await stage.uploads.wait(for: ["is/after"])
    }

    // MARK: Limits of the kernel

    @Test func beyondTheLimitOfWatchesFoldersArePolledAndReported() async throws {
        let added = Mutex(0)
        let isLifted = Mutex(false)
        var kernel = WatchKernel.linux
        kernel.add = { descriptor, path, mask in
            // The parent folders are not affected.
            guard mask & InotifyEvent.mask == InotifyEvent.mask else {
                return WatchKernel.linux.add(descriptor, path, mask)
            }
            let isFull = added.withLock { added in
                added += 1
                return added > 2
            }
            return isFull && !isLifted.withLock { $0 } ? -ENOSPC : WatchKernel.linux.add(descriptor, path, mask)
        }
        kernel.limit = { $0 == "fs.inotify.max_user_watches" ? 8192 : nil }
        let stage = try WatchStage(kernel: kernel)
        for name in ["a", "b", "c", "d"] { try stage.folder.folder("in/\(name)") }
        _ = await stage.started()
        for name in ["a", "b", "c", "d"] { try stage.folder.write("1", to: "in/\(name)/f") }
        await stage.uploads.wait(for: ["a/f", "b/f", "c/f", "d/f"])
        let reported = stage.uploads.state.events.compactMap { event -> TransferError? in
            guard case .polling(.limit(let error)) = event else { return nil }
            return error
        }
        #expect(reported.count == 1)
        #expect(reported.first?.message.contains("fs.inotify.max_user_watches is 8192") == true)
        #expect(reported.first?.message.contains("sysctl -w fs.inotify.max_user_watches=") == true)
        isLifted.withLock { $0 = true }
        await stage.uploads.waitForEvent { $0 == .caughtUp(WatchSummary(folders: 5, polledFolders: 0)) }
    }

    @Test func withoutAQueueOfEventsEverythingIsPolledUntilThereIsOne() async throws {
        let isLifted = Mutex(false)
        var kernel = WatchKernel.linux
        kernel.create = { isLifted.withLock { $0 } ? WatchKernel.linux.create() : -EMFILE }
        let stage = try WatchStage(kernel: kernel)
        stage.watcher.start()
        try stage.folder.write("1", to: "in/a/f")
        await stage.uploads.wait(for: ["a/f"])
        await stage.uploads.waitForEvent { event in
            guard case .polling(.limit(let error)) = event else { return false }
            return error.message.contains("max_user_instances")
        }
        isLifted.withLock { $0 = true }
        await stage.uploads.waitForEvent { $0 == .caughtUp(WatchSummary(folders: 2, polledFolders: 0)) }
        try stage.folder.write("1", to: "in/b/f")
        await stage.uploads.wait(for: ["b/f"])
        #expect(stage.uploads.paths == ["a/f", "b/f"])
    }

    // MARK: Polling

    @Test func pollingFindsNewAndChangedFiles() async throws {
        let stage = try WatchStage({ $0.polls = true })
        try stage.folder.write("1", to: "in/a")
        _ = await stage.started()
        let descriptor = open(stage.folder.path("in/open"), O_WRONLY | O_CREAT, 0o644)
        _ = write(descriptor, "x", 1)
        try stage.folder.write("22", to: "in/sub/b")
        try stage.folder.write("333", to: "in/a")
        try stage.folder.write("no", to: "in/c.part")
        await stage.uploads.wait { $0.taken.count == 3 }
        #expect(stage.uploads.paths == ["a", "a", "sub/b"])
        close(descriptor)
        try Paths.rename(stage.folder.path("in/c.part"), stage.folder.path("in/c"))
        await stage.uploads.wait(for: ["open", "c"])
        // The consumer was offered each version once.
        #expect(stage.uploads.state.offered == 5)
        try FileManager.default.removeItem(atPath: stage.folder.path("in"))
        await stage.uploads.waitForEvent(\.isLost)
        try stage.folder.write("1", to: "in/z")
        await stage.uploads.wait(for: ["z"])
    }

    @Test func fileSystemsWithoutEventsArePolled() async throws {
        var kernel = WatchKernel.linux
        kernel.fileSystem = { _ in 0x6969 }
        let stage = try WatchStage(kernel: kernel)
        stage.watcher.start()
        try stage.folder.write("1", to: "in/sub/a")
        await stage.uploads.wait(for: ["sub/a"])
        await stage.uploads.waitForEvent { $0 == .polling(.fileSystem("NFS")) }
        await stage.uploads.waitForEvent { $0 == .caughtUp(WatchSummary(folders: 2, polledFolders: 2)) }
    }

    // MARK: The consumer

    @Test func aFullConsumerIsNotPressedAndGetsEverythingInTheEnd() async throws {
        let stage = try WatchStage({ $0.capacity = 16 })
        for number in 0..<300 { try stage.folder.write("x", to: "in/d\(number % 7)/f\(number)") }
        stage.uploads.change { $0.room = 40 }
        stage.watcher.start()
        for round in 1...20 {
            let state = await stage.uploads.wait { $0.room == 0 || $0.first == 300 }
            if state.first == 300 { break }
            let held = await stage.watcher.withMachine { $0.heldFiles }
            #expect(held.map { $0 <= 8192 + 32 } == true)
            try stage.folder.write("late", to: "in/late\(round)")
            stage.uploads.change { $0.room = 40 }
            stage.watcher.proceed()
        }
        stage.uploads.change { $0.room = .max }
        stage.watcher.proceed()
        try await stage.passed()
        let late = stage.uploads.paths.filter { $0.hasPrefix("late") }.count
        #expect(stage.uploads.paths.count == 301 + late && late > 0)
        #expect(stage.uploads.state.batches.allSatisfy { $0 <= 16 })
    }

    @Test(arguments: [
        (WatchOrder.oldest, ["3", "1", "2"]), (.newest, ["2", "1", "3"]), (.smallest, ["1", "2", "3"]),
    ])
    func waitingFilesAreOfferedInOrder(order: WatchOrder, names: [String]) async throws {
        let stage = try WatchStage({ $0.order = order })
        for (name, size, time) in [("1", 1, 200), ("2", 2, 300), ("3", 3, 100)] {
            let path = try stage.folder.write(String(repeating: "x", count: size), to: "in/\(name)")
            var times = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
            try #require(utimes(path, &times) == 0)
        }
        // The consumer is full until all files wait.
        stage.uploads.change { $0.room = 0 }
        stage.watcher.start()
        while await stage.watcher.withMachine({ $0.waiting.count }) != 3 {}
        stage.uploads.change { $0.room = .max }
        stage.watcher.proceed()
        await stage.uploads.wait(for: names)
        #expect(stage.uploads.state.taken.map(\.path) == names)
    }

    @Test func aStoppedWatcherOffersAndReportsNothing() async throws {
        let stage = try await WatchStage().started()
        try stage.folder.write("x", to: "in/a")
        await stage.watcher.stop()
        let before = stage.uploads.state
        try stage.folder.write("x", to: "in/b")
        // Another watcher sees both files after some settle times.
        let other = try WatchStage(in: stage.folder, makesRoot: false)
        other.watcher.start()
        await other.uploads.wait(for: ["a", "b"])
        #expect(stage.uploads.state.offered == before.offered && stage.uploads.state.events == before.events)
    }

    @Test func newFilesOnlyIgnoresExistingFiles() async throws {
        let folder = try TemporaryFolder("watch")
        try folder.write("old", to: "in/old")
        try folder.write("old", to: "elsewhere/old")
        let since = try #require(changeTime(folder.path("elsewhere/old"))) + 1
        // The file system's clock ticks every few milliseconds.
        var number = 0
        repeat {
            number += 1
            try folder.write("\(number)", to: "probe")
        } while try #require(changeTime(folder.path("probe"))) < since
        let stage = try await WatchStage(in: folder, { $0.since = since }).started()
        #expect(stage.uploads.paths.isEmpty)
        try Paths.rename(folder.path("elsewhere"), folder.path("in/moved"))
        try await stage.passed()
        await stage.uploads.wait(for: ["moved/old"])
        #expect(stage.uploads.paths == ["moved/old", "sentinel"])
    }

    private func changeTime(_ path: String) -> Int64? {
        guard let place = try? Place.root(String(PathText.folder(path))) else { return nil }
        return FileLooker(root: "/").sight(String(PathText.name(path)), in: place.descriptor).look?.stamp.changed
    }
}

/// A tmpfs that is mounted during the lifetime of this object.
private final class Mounts {
    /// Whether a mount succeeds, which is tried once.
    static let arePossible: Bool = {
        guard getuid() == 0, let folder = try? TemporaryFolder("mount"), let mount = try? Mounts(on: folder.path) else {
            return false
        }
        mount.end()
        return true
    }()

    private var path: String?

    init(on path: String) throws {
        try #require(mount("transfer-test", path, "tmpfs", 0, nil) == 0)
        self.path = path
    }

    func end() {
        // The unmount is lazy, since another process may be using the folder.
        if let path { umount2(path, Int32(MNT_DETACH)) }
        path = nil
    }

    deinit { end() }
}

extension Uploads.State {
    /// The number of files that existed at the start.
    fileprivate var first: Int { taken.lazy.filter { $0.path.hasPrefix("d") }.count }
}

extension WatchEvent {
    var isLost: Bool { if case .rootLost = self { true } else { false } }
}
