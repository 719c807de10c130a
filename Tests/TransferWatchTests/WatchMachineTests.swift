import Testing
import TransferCore

@testable import TransferWatch

@Suite struct WatchMachineTests {
    @Test(arguments: WatchOrder.allCases) func newFilesDuringAFullConsumerKeepTheOrder(
        _ order: WatchOrder
    ) {
        var bench = MachineBench(
            MachineBench.options {
                $0.order = order
                $0.capacity = 4
            })
        for size in 10..<20 { bench.files["f\(size)"] = Int64(size) }
        bench.consumerRoom = 1
        bench.run()
        bench.files["late"] = order == .newest ? 30 : 1
        bench.event(.closedAfterWriting, "late")
        bench.run(after: .seconds(10))
        let before = bench.taken.count
        bench.consumerRoom = .max
        bench.machine.proceed()
        bench.run()
        if order != .oldest { #expect(bench.taken[before] == "late") }
        #expect(Set(bench.taken).count == 11)
    }

    @Test func existingFilesAreTakenBeforeNewOnes() {
        var bench = MachineBench()
        bench.files = ["a": 1, "x.part": 2]
        bench.run()
        #expect(bench.taken == ["a"])
        #expect(bench.notices == [.caughtUp(WatchSummary(folders: 1, polledFolders: 0))])
        bench.files["b"] = 3
        bench.event(.made, "b")
        bench.event(.closedAfterWriting, "b")
        bench.event(.closedAfterWriting, "x.part")
        bench.run(after: .seconds(1.9))
        #expect(bench.taken == ["a"])
        bench.run(after: .seconds(0.3))
        #expect(bench.taken == ["a", "b"])
        #expect(bench.machine.heldFiles == 0 && bench.machine.nextDue == nil)
    }

    @Test func aNewFolderIsWatchedAndThenRead() {
        var bench = MachineBench()
        bench.run()
        bench.folders["n"] = 2
        bench.files["n/early"] = 1
        bench.event([.made, .folder], "n")
        bench.run()
        #expect(bench.taken == ["n/early"] && bench.machine.tree.folder(ofWatch: bench.watch("n")) != nil)
    }

    @Test func aRenamedFolderKeepsItsWatchAndIsReadAgain() {
        var bench = MachineBench()
        bench.folders = ["": 1, "old": 2, "old/sub": 3]
        bench.files = ["old/sub/f": 1]
        bench.run()
        bench.folders = ["": 1, "new": 2, "new/sub": 3]
        bench.files = ["new/sub/f": 1]
        bench.event([.movedFrom, .folder], "old", cookie: 9)
        bench.event([.movedTo, .folder], "new", cookie: 9)
        bench.run()
        #expect(bench.taken == ["old/sub/f", "new/sub/f"])
        #expect(bench.endedWatches.isEmpty && bench.machine.tree.count == 3)
        bench.files["new/sub/g"] = 1
        bench.event(.closedAfterWriting, "new/sub/g")
        bench.run(after: .seconds(3))
        #expect(bench.taken.last == "new/sub/g")
    }

    @Test func aFolderThatMovedOutIsDroppedWithAllBeneath() {
        var bench = MachineBench()
        bench.folders = ["": 1, "out": 2, "out/sub": 3]
        bench.run()
        bench.event(.closedAfterWriting, "out/sub/f")
        bench.event([.movedFrom, .folder], "out", cookie: 9)
        bench.folders = ["": 1]
        bench.run()
        #expect(bench.machine.tree.count == 3)
        bench.run(after: FolderMoves.patience)
        #expect(bench.machine.tree.count == 1 && bench.endedWatches.sorted() == [102, 103])
        bench.run(after: .seconds(3))
        #expect(bench.taken.isEmpty && bench.machine.heldFiles == 0)
    }

    @Test func aFolderThatGetsATemporaryNameIsLeftAlone() {
        var bench = MachineBench()
        bench.folders = ["": 1, "a": 2]
        bench.run()
        bench.event([.movedFrom, .folder], "a", cookie: 4)
        bench.event([.movedTo, .folder], "a.tmp", cookie: 4)
        bench.run()
        #expect(bench.machine.tree.count == 1 && bench.endedWatches == [102])
        bench.folders = ["": 1, "b": 2]
        bench.files = ["b/f": 1]
        bench.event([.movedTo, .folder], "b", cookie: 5)
        bench.run()
        #expect(bench.taken == ["b/f"])
    }

    @Test func anOverflowReadsEverythingAgainAndFindsRenames() {
        var bench = MachineBench()
        bench.folders = ["": 1, "a": 2, "gone": 3]
        bench.run()
        // The lost events: a became z, gone was removed, and a file was added.
        bench.folders = ["": 1, "z": 2]
        bench.files = ["z/f": 1]
        bench.machine.take(.overflowed, at: bench.now)
        bench.run()
        #expect(bench.taken == ["z/f"] && bench.notices.contains(.overflowed))
        let watched = bench.machine.tree.folder(ofWatch: bench.watch("z"))
        #expect(watched.flatMap { bench.machine.tree.path(of: $0) } == "z")
        #expect(bench.machine.tree.count == 2 && bench.endedWatches.sorted() == [102, 103])
    }

    @Test func aFolderThatIsMetUnderANewPathFirstKeepsItsWatch() {
        var bench = MachineBench()
        bench.folders = ["": 1, "x": 2, "x/a": 3]
        bench.run()
        let watch = bench.watch("x/a")
        // The lost event: x/a became z. Only the watched folder itself is read again.
        bench.folders = ["": 1, "x": 2, "z": 3]
        bench.files = ["z/f": 1]
        bench.machine.tree.markDirty(FolderTree.root)
        bench.run()
        #expect(bench.taken == ["z/f"] && bench.endedWatches.isEmpty)
        #expect(bench.machine.tree.folder(ofWatch: watch).flatMap { bench.machine.tree.path(of: $0) } == "z")
        #expect(bench.machine.tree.count == 3)
    }

    /// Each overflow requests a reading of all folders. Repeated requests wait, and the last reading covers all of
    /// them.
    @Test func aFloodOfLostEventsIsFollowedByFewReadings() {
        var bench = MachineBench()
        bench.run()
        for second in 0..<60 {
            for _ in 0..<50 {
                bench.machine.take(.overflowed, at: bench.now)
                bench.run(after: .milliseconds(20))
            }
            if second == 59 { bench.files = ["last": 1] }
        }
        #expect(bench.notices.filter { $0 == .overflowed }.count <= 20)
        #expect(bench.taken.isEmpty)
        bench.run(after: .seconds(10))
        bench.run(after: .seconds(10))
        #expect(bench.taken == ["last"])
    }

    @Test func theSameFolderByAnotherPathIsLeftAlone() {
        var bench = MachineBench()
        // Bind mounts of a sibling and of the parent folder.
        bench.folders = ["": 1, "a": 2, "b": 2, "a/loop": 1]
        bench.files = ["a/f": 1, "b/f": 1]
        bench.run()
        #expect(bench.taken == ["a/f"])
        #expect(bench.notices.contains(.leftAlone(path: "b", .sameFolder)))
        #expect(bench.notices.contains(.leftAlone(path: "a/loop", .sameFolder)))
        #expect(bench.endedWatches.isEmpty && bench.machine.tree.count == 2)
    }

    @Test func foldersBeyondTheLimitArePolledUntilThereAreWatchesAgain() {
        var bench = MachineBench()
        bench.folders = ["": 1, "a": 2, "b": 3, "c": 4]
        bench.watchLimit = 2
        bench.run()
        let refusal = WatchRefusal(number: 28, .init(setting: WatchRefusal.watches[0], value: 2))
        #expect(bench.notices.filter { $0 == .polling(.limit(refusal.error)) }.count == 1)
        #expect(bench.machine.tree.polledCount == 2)
        bench.files = ["c/f": 1]
        bench.run(after: .seconds(9))
        #expect(bench.taken.isEmpty)
        bench.run(after: .seconds(2))
        #expect(bench.taken == ["c/f"])
        bench.watchLimit = 10
        bench.run(after: .seconds(10))
        #expect(bench.machine.tree.polledCount == 0 && bench.watches.count == 4 && bench.machine.nextDue == nil)
    }

    @Test func aRemoteFolderIsPolledAndAsksOnlyAboutNewVersions() {
        var bench = MachineBench()
        bench.folders["nfs"] = 2
        bench.remote = ["nfs"]
        bench.files = ["nfs/a": 1, "nfs/b": 1]
        bench.run()
        #expect(bench.taken == ["nfs/a", "nfs/b"])
        #expect(bench.notices.contains(.polling(.fileSystem("NFS"))))
        bench.run(after: .seconds(10))
        bench.files["nfs/b"] = 2
        bench.run(after: .seconds(10))
        bench.run(after: .seconds(10))
        #expect(bench.taken == ["nfs/a", "nfs/b", "nfs/b"])
    }

    @Test func aFullConsumerStopsTheReadingAndLosesNothing() {
        var bench = MachineBench(MachineBench.options { $0.capacity = 10 })
        for number in 0..<1000 { bench.files["\(1000 + number)"] = 1 }
        bench.consumerRoom = 25
        bench.run()
        #expect(bench.taken.count == 25)
        #expect(bench.machine.heldFiles <= 20 && bench.machine.nextDue == nil)
        // New files settle only while there is room.
        bench.files["late"] = 2
        bench.event(.closedAfterWriting, "late")
        bench.run(after: .seconds(60))
        #expect(bench.taken.count == 25 && bench.machine.nextDue == nil)
        while bench.taken.count < 1001, bench.consumerRoom == 0 {
            bench.consumerRoom = 100
            bench.machine.proceed()
            bench.run()
        }
        bench.consumerRoom = .max
        bench.machine.proceed()
        bench.run()
        #expect(Set(bench.taken).count == 1001)
    }

    @Test func filesBeyondTheRoomForUnsettledOnesAreFoundByReading() {
        var bench = MachineBench(MachineBench.options { $0.unsettled = 8 })
        bench.run()
        bench.quietFor = .zero
        for number in 0..<100 {
            bench.files["f\(number)"] = 1
            bench.event(.closedAfterWriting, "f\(number)")
        }
        #expect(bench.machine.heldFiles == 8)
        for _ in 0..<40 { bench.run(after: .seconds(2.2)) }
        #expect(Set(bench.taken).count == 100)
        #expect(bench.machine.heldFiles == 0 && bench.machine.nextDue == nil)
    }

    @Test func inNewFilesOnlyModeExistingFilesAreIgnored() {
        var bench = MachineBench(MachineBench.options { $0.since = 1000 })
        bench.folders["old"] = 2
        bench.files = ["a": 1, "old/b": 1]
        bench.changed = 999
        bench.run()
        #expect(bench.taken.isEmpty)
        // A folder that is moved in is new with all its files, however old they are.
        bench.folders["in"] = 3
        bench.folders["in/deep"] = 4
        bench.files["in/deep/c"] = 1
        bench.event([.movedTo, .folder], "in", cookie: 1)
        bench.event(.movedTo, "a")
        bench.run(after: .seconds(3))
        #expect(Set(bench.taken) == ["in/deep/c", "a"])
        bench.machine.take(.overflowed, at: bench.now)
        bench.run()
        #expect(Set(bench.taken) == ["in/deep/c", "a"])
        bench.changed = 1000
        bench.machine.rescan()
        bench.run()
        #expect(bench.taken.contains("old/b"))
    }

    @Test func aNewFolderThatIsRenamedBeforeItIsTakenStaysNew() {
        var bench = MachineBench(MachineBench.options { $0.since = 1000 })
        bench.changed = 999
        bench.run()
        bench.consumerRoom = 1
        bench.folders = ["": 1, "in": 2, "in/deep": 3]
        bench.files = ["in/a": 1, "in/b": 2, "in/deep/c": 3]
        bench.event([.movedTo, .folder], "in", cookie: 1)
        bench.run(after: .seconds(3))
        #expect(bench.taken.count == 1)
        bench.event([.movedFrom, .folder], "in", cookie: 2)
        bench.folders = ["": 1, "out": 2, "out/deep": 3]
        bench.files = ["out/a": 1, "out/b": 2, "out/deep/c": 3]
        bench.event([.movedTo, .folder], "out", cookie: 2)
        bench.consumerRoom = .max
        bench.machine.proceed()
        bench.run(after: .seconds(3))
        #expect(Set(bench.taken.dropFirst()) == ["out/a", "out/b", "out/deep/c"])
    }

    /// A consumer may release a version that it had handled, and request it again.
    @Test func requestedFilesAreOfferedAgainEvenIfReadingSkipsThem() {
        var polled = MachineBench()
        polled.remote = [""]
        polled.files = ["a": 1, "b": 1, "b.part": 1]
        polled.run()
        polled.run(after: .seconds(11))
        #expect(polled.taken == ["a", "b"])
        polled.machine.look(at: ["b", "b.part", "gone"], now: polled.now)
        polled.run()
        #expect(polled.taken == ["a", "b"])
        polled.run(after: .seconds(3))
        #expect(polled.taken == ["a", "b", "b"])
        #expect(polled.machine.heldFiles == 0)

        var newOnly = MachineBench(MachineBench.options { $0.since = 1000 })
        newOnly.changed = 999
        newOnly.run()
        newOnly.folders["in"] = 2
        newOnly.files["in/a"] = 1
        newOnly.event([.movedTo, .folder], "in", cookie: 1)
        newOnly.run(after: .seconds(3))
        newOnly.machine.look(at: ["in/a"], now: newOnly.now)
        newOnly.run(after: .seconds(3))
        #expect(newOnly.taken == ["in/a", "in/a"])
    }

    @Test func excessRequestedFilesAreFoundByReading() {
        var bench = MachineBench(MachineBench.options { $0.unsettled = 2 })
        bench.folders["in"] = 2
        let names = (0..<20).map { "in/f\($0)" }
        for name in names { bench.files[name] = 1 }
        bench.run()
        #expect(Set(bench.taken) == Set(names))
        bench.machine.look(at: names + ["gone/x", "../x"], now: bench.now)
        #expect(bench.machine.heldFiles == 4)
        for _ in 0..<12 { bench.run(after: .seconds(3)) }
        #expect(bench.taken.count >= 40 && Set(bench.taken.dropFirst(20)) == Set(names))
    }

    @Test func aRewrittenFileThatWaitsIsOfferedOnlyAsItIsThen() {
        var bench = MachineBench()
        bench.consumerRoom = 0
        bench.files = ["a": 1, "b": 1]
        bench.run()
        bench.files["a"] = 7
        bench.event(.closedAfterWriting, "a")
        bench.files["b"] = nil
        bench.event(.deleted, "b")
        bench.consumerRoom = .max
        bench.machine.proceed()
        bench.run()
        #expect(bench.taken.isEmpty)
        bench.run(after: .seconds(3))
        #expect(bench.taken == ["a"])
    }

    @Test func anUnreadableFolderIsReportedOnceAndTriedAgain() {
        var bench = MachineBench()
        bench.run()
        let id = bench.machine.tree.meet("secret", in: FolderTree.root)
        for _ in 0..<3 {
            guard case .begin(let begun, _, _)? = bench.machine.nextStep(at: bench.now), begun == id else {
                Issue.record("not begun")
                return
            }
            bench.machine.failed(begun, TransferError(.fileAccess, "secret: permission denied"))
            bench.machine.turn(at: bench.now)
            bench.now = bench.now + .seconds(11)
            bench.machine.turn(at: bench.now)
        }
        let polling = bench.machine.takeNotices().filter { if case .polling = $0 { true } else { false } }
        #expect(polling.count == 1)
    }

    @Test func nothingIsDoneTwiceInOneTurn() {
        var bench = MachineBench()
        bench.folders = ["": 1, "a": 2, "a/b": 3, "c": 4]
        bench.run()
        #expect(bench.beginnings == 4)
        bench.run(after: .seconds(100))
        #expect(bench.beginnings == 4)
    }
}
