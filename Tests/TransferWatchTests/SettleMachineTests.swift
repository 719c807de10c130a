import Testing
import TransferCore

@testable import TransferWatch

@Suite struct SettleMachineTests {
    /// A test bench with times in seconds and a settle time of two seconds.
    struct Bench {
        var machine = SettleMachine(settle: .seconds(2), capacity: 4)

        mutating func at(_ seconds: Double, _ event: SettleMachine.Event) -> SettleMachine.Action {
            at(seconds, "f", event)
        }

        mutating func at(_ seconds: Double, _ path: String, _ event: SettleMachine.Event) -> SettleMachine.Action {
            machine.event(event, path, at: Self.time(seconds))
        }

        mutating func due(_ seconds: Double, limit: Int = 100) -> [String] {
            machine.dueLooks(at: Self.time(seconds), limit: limit).sorted()
        }

        static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
    }

    /// - Parameter quiet: The seconds since the last change.
    static func look(
        size: Int64 = 1, quiet: Double, isWritten: Bool? = nil, hasOtherNames: Bool = false
    ) -> FileLook {
        FileLook(
            stamp: FileStamp(device: 1, inode: 2, size: size, modified: size, changed: 0),
            quietFor: .milliseconds(Int64(quiet * 1000)), hasOtherNames: hasOtherNames, isWritten: isWritten)
    }

    static func version(size: Int64 = 1, _ path: String = "f") -> FileVersion {
        FileVersion(device: 1, inode: 2, size: size, modified: size, path: path)
    }

    @Test(arguments: [SettleMachine.Event.closedAfterWriting, .movedIn])
    func takesAFileThatWasQuietSinceItWasClosedOrMovedIn(event: SettleMachine.Event) {
        var bench = Bench()
        #expect(bench.at(10, event) == .none)
        #expect(bench.due(11.99) == [])
        let next = bench.machine.nextDue
        #expect(next.map { $0 >= Bench.time(12) && $0 < Bench.time(12.2) } == true)
        #expect(bench.due(12.2) == ["f"])
        #expect(bench.at(12.2, .looked(Self.look(quiet: 2.1))) == .take(Self.version()))
        #expect(bench.machine.count == 0 && bench.machine.nextDue == nil)
    }

    @Test func aWriteAfterTheClosingStartsAgain() {
        var bench = Bench()
        _ = bench.at(10, .closedAfterWriting)
        _ = bench.at(11.5, .closedAfterWriting)
        #expect(bench.due(12.5) == [])
        #expect(bench.due(13.7) == ["f"])
        // The file was written without a closing event, which its times show.
        #expect(bench.at(13.7, .looked(Self.look(size: 5, quiet: 0.5))) == .none)
        #expect(bench.due(15.9) == ["f"])
        #expect(bench.at(15.9, .looked(Self.look(size: 5, quiet: 2.2))) == .take(Self.version(size: 5)))
    }

    @Test func aFileThatIsOpenAgainWaitsForItsClosing() {
        var bench = Bench()
        _ = bench.at(10, .closedAfterWriting)
        #expect(bench.due(12.2) == ["f"])
        #expect(bench.at(12.2, .looked(Self.look(quiet: 9, isWritten: true))) == .none)
        #expect(bench.machine.unsettled == 0 && bench.machine.written == 1)
        _ = bench.at(13, .closedAfterWriting)
        #expect(bench.machine.unsettled == 1 && bench.machine.written == 0)
        #expect(bench.due(15.2) == ["f"])
        #expect(bench.at(15.2, .looked(Self.look(quiet: 2.2, isWritten: false))) == .take(Self.version()))
    }

    @Test func anOpenFileIsExaminedLessAndLessOften() {
        var bench = Bench()
        _ = bench.at(0, .made)
        var times: [Double] = []
        for tick in 0..<4000 where bench.due(Double(tick) / 10) == ["f"] {
            times.append(Double(tick) / 10)
            _ = bench.at(Double(tick) / 10, .looked(Self.look(quiet: 9, isWritten: true)))
        }
        let gaps = zip(times, times.dropFirst()).map { ($1 - $0).rounded() }
        #expect(gaps.prefix(7) == [2, 4, 8, 16, 32, 64, 64])
        #expect(bench.at(400, .looked(nil)) == .none)
    }

    @Test func aCreatedFileIsTakenOnlyAfterItsClosing() {
        var bench = Bench()
        _ = bench.at(10, .made)
        #expect(bench.due(12.2) == ["f"])
        // The watcher cannot know whether the file is open, but its closing will be reported.
        #expect(bench.at(12.2, .looked(Self.look(quiet: 2.2))) == .none)
        #expect(bench.machine.count == 0)
        _ = bench.at(60, .closedAfterWriting)
        #expect(bench.due(62.2) == ["f"])
    }

    @Test func aLinkIsTakenWithoutAClosingEvent() {
        var bench = Bench()
        _ = bench.at(10, .made)
        _ = bench.due(12.2)
        #expect(bench.at(12.2, .looked(Self.look(quiet: 2.2, hasOtherNames: true))) == .take(Self.version()))
    }

    @Test func aFileThatGotItsNameWhenItWasWrittenIsTaken() {
        var bench = Bench()
        _ = bench.at(10, .made)
        _ = bench.due(12.2)
        #expect(bench.at(12.2, .looked(Self.look(quiet: 2.2, isWritten: false))) == .take(Self.version()))
    }

    @Test func aQuietFileThatAScanFindsIsTakenAtOnce() {
        var bench = Bench()
        #expect(bench.at(0, .found(Self.look(quiet: 2))) == .take(Self.version()))
        #expect(bench.machine.count == 0)
    }

    @Test func aYoungFileThatAScanFindsIsTakenWhenTwoLooksAgree() {
        var bench = Bench()
        // With a server clock that is ahead, the times of the file never show that it is quiet.
        #expect(bench.at(0, .found(Self.look(size: 1, quiet: -50))) == .none)
        #expect(bench.due(2.2) == ["f"])
        #expect(bench.at(2.2, .looked(Self.look(size: 2, quiet: -50))) == .none)
        #expect(bench.due(4.4) == ["f"])
        #expect(bench.at(4.4, .looked(Self.look(size: 2, quiet: -50))) == .take(Self.version(size: 2)))
    }

    @Test func anOpenFileThatAScanFindsIsNotTaken() {
        var bench = Bench()
        #expect(bench.at(0, .found(Self.look(quiet: 1000, isWritten: true))) == .none)
        #expect(bench.due(2.2) == ["f"])
        #expect(bench.at(2.2, .looked(Self.look(quiet: 1000, isWritten: true))) == .none)
        #expect(bench.due(6.4) == ["f"])
        #expect(bench.at(6.4, .looked(Self.look(quiet: 1000, isWritten: false))) == .take(Self.version()))
    }

    @Test func aScanDoesNotChangeAKnownFile() {
        var bench = Bench()
        _ = bench.at(10, .closedAfterWriting)
        #expect(bench.at(11, .found(Self.look(quiet: 100))) == .none)
        #expect(bench.due(12.2) == ["f"])
    }

    @Test(arguments: [SettleMachine.Event.gone, .looked(nil)])
    func removedFilesAreForgotten(event: SettleMachine.Event) {
        var bench = Bench()
        _ = bench.at(10, .closedAfterWriting)
        if event == .looked(nil) { _ = bench.due(13) }
        #expect(bench.at(13, event) == .none)
        #expect(bench.machine.count == 0 && bench.due(20) == [])
    }

    @Test func anOutdatedAnswerIsIgnored() {
        var bench = Bench()
        _ = bench.at(10, .closedAfterWriting)
        #expect(bench.due(12.2) == ["f"])
        _ = bench.at(12.3, .closedAfterWriting)
        #expect(bench.at(12.4, .looked(Self.look(quiet: 5))) == .none)
        #expect(bench.due(14.5) == ["f"])
        _ = bench.at(14.6, .gone)
        #expect(bench.at(14.7, .looked(Self.look(quiet: 5))) == .none)
    }

    @Test func holdsNoMoreThanItsCapacity() {
        var bench = Bench()
        for name in ["a", "b", "c", "d"] { #expect(bench.at(0, name, .closedAfterWriting) == .none) }
        #expect(bench.machine.room == 0)
        #expect(bench.at(0, "e", .closedAfterWriting) == .full)
        #expect(bench.at(0, "e", .found(Self.look(quiet: 0))) == .full)
        // A known file and a finished one need no capacity.
        #expect(bench.at(0, "a", .closedAfterWriting) == .none)
        #expect(bench.at(0, "e", .found(Self.look(quiet: 5))) == .take(Self.version("e")))
        #expect(bench.machine.count == 4)
    }

    @Test func filesThatStayOpenLeaveRoomForOthers() {
        var machine = SettleMachine(settle: .seconds(2), capacity: 2, mostWritten: 3)
        for number in 0..<10 {
            let action = machine.event(
                .found(Self.look(quiet: 9, isWritten: true)), "open\(number)", at: Bench.time(0))
            #expect(action == .none)
        }
        #expect(machine.written == 3 && machine.room == 2)
    }

    @Test func requestedFilesHaveACapacityOfTheirOwn() {
        var bench = Bench()
        for number in 0..<4 { _ = bench.at(0, "f\(number)", .closedAfterWriting) }
        let noted = (0..<12).map { bench.machine.settleAgain("f\($0)", at: Bench.time(0)) }
        #expect(noted == (0..<12).map { $0 < 8 })
        #expect(bench.machine.count == 8 && bench.machine.room == 0)
    }

    @Test func manyEventsOfOneFileTakeNoRoom() {
        var bench = Bench()
        for step in 0..<10_000 { _ = bench.at(Double(step) / 1000, .closedAfterWriting) }
        #expect(bench.machine.count == 1)
        var looks = 0
        for tick in 100..<200 where !bench.due(Double(tick) / 10).isEmpty { looks += 1 }
        #expect(looks == 1)
    }

    @Test func looksAreGivenOutInPortions() {
        var bench = Bench()
        for name in ["a", "b", "c", "d"] { _ = bench.at(0, name, .closedAfterWriting) }
        let first = bench.due(3, limit: 3)
        let second = bench.due(3, limit: 3)
        #expect(first.count == 3 && second.count == 1)
        #expect(Set(first + second) == ["a", "b", "c", "d"])
    }

    @Test func filesOfARenamedFolderContinueToSettle() {
        var bench = Bench()
        _ = bench.at(10, "x/a", .closedAfterWriting)
        _ = bench.at(10, "xy/b", .closedAfterWriting)
        let movedEntries = bench.machine.remove(folder: "x")
        #expect(bench.machine.count == 1)
        bench.machine.add(movedEntries, folder: "new/x", at: Bench.time(11))
        #expect(bench.due(12.2) == ["xy/b"])
        #expect(bench.due(13.2) == ["new/x/a"])
        #expect(
            bench.at(13.2, "new/x/a", .looked(Self.look(quiet: 3.2))) == .take(Self.version("new/x/a")))
    }
}

@Suite struct WaitingFilesTests {
    static func file(_ path: String, size: Int64 = 0, modified: Int64 = 0) -> FileVersion {
        FileVersion(device: 1, inode: 1, size: size, modified: modified, path: path)
    }

    static let files = [
        file("b", size: 5, modified: 30), file("a", size: 5, modified: 10), file("c", size: 1, modified: 20),
    ]

    @Test(arguments: [(WatchOrder.oldest, "acb"), (.newest, "bca"), (.smallest, "cab")])
    func offersInOrder(order: WatchOrder, names: String) {
        var waiting = WaitingFiles(capacity: 10, order: order)
        for file in Self.files { waiting.add(file, at: MonotonicTime(nanoseconds: 0)) }
        #expect(waiting.offer().map(\.path).joined() == names)
    }

    @Test func filesBeyondTheConsumersRoomWaitUntilItProceeds() {
        let now = MonotonicTime(nanoseconds: 0)
        var waiting = WaitingFiles(capacity: 2, order: .oldest)
        for file in Self.files { waiting.add(file, at: now) }
        #expect(waiting.offer().map(\.path) == ["a", "c"])
        #expect(!waiting.canOffer)
        #expect(waiting.answered(handled: 1, at: now).map(\.path) == ["a"])
        #expect(!waiting.canOffer && waiting.room == 0)
        waiting.proceed()
        #expect(waiting.canOffer)
        #expect(waiting.offer().map(\.path) == ["c", "b"])
        #expect(waiting.answered(handled: 2, at: now).count == 2)
        #expect(waiting.isEmpty)
    }

    @Test func anEarlyRequestToProceedIsHonoured() {
        let now = MonotonicTime(nanoseconds: 0)
        var waiting = WaitingFiles(capacity: 5, order: .oldest)
        for file in Self.files { waiting.add(file, at: now) }
        _ = waiting.offer()
        waiting.proceed()
        _ = waiting.answered(handled: 0, at: now)
        #expect(waiting.canOffer)
    }

    @Test func aFileRemovedDuringItsOfferDoesNotReturn() {
        let now = MonotonicTime(nanoseconds: 0)
        var waiting = WaitingFiles(capacity: 5, order: .oldest)
        for file in Self.files + [Self.file("x/y")] { waiting.add(file, at: now) }
        _ = waiting.offer()
        waiting.drop("a")
        waiting.drop(folder: "x")
        waiting.add(Self.file("b", size: 99, modified: 40), at: now)
        _ = waiting.answered(handled: 0, at: now)
        waiting.proceed()
        #expect(waiting.offer().map { "\($0.path)\($0.size)" } == ["c1", "b99"])
    }

    @Test func seenFilesAreRememberedForOneMorePass() {
        var seen = SeenVersions(capacity: 2)
        seen.insert(Self.files[0])
        seen.beginPass()
        let (isFirst, isSecond) = (seen.contains(Self.files[0]), seen.contains(Self.files[1]))
        #expect(isFirst && !isSecond)
        seen.beginPass()
        seen.beginPass()
        let isLater = seen.contains(Self.files[0])
        #expect(!isLater)
        for file in Self.files { seen.insert(file) }
        #expect(seen.count == 2)
    }
}
