import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling

/// The small parts of a run.
@Suite struct RunPartsTests {
    @Test func commandsAreDoneOneAfterTheOther() {
        var desk = CommandQueue()
        desk.add([.pause, .resume].enumerated().map { QueueCommand(id: Int64($0), verb: $1, batch: 1, job: nil) })
        let value1 = desk.next()?.verb
        #expect(value1 == .pause)
        let value2 = desk.next()
        #expect(value2 == nil && desk.current?.verb == .pause)
        desk.finished()
        let value3 = desk.next()?.verb
        #expect(value3 == .resume)
        desk.finished()
        let value4 = desk.next()
        #expect(value4 == nil && desk.current == nil)
    }

    /// The times are in seconds; a quarter of a second is the time in which descriptors are closed.
    @Test(
        arguments: [
            ("it began when none was held any more", [.lack(others: 0, started: 0, at: 1)], 1.25, true),
            ("it is the first that found none", [], 1, false),
            ("others held some then", [.lack(others: 1, started: 0, at: 1)], 3, false),
            ("it began together with the one before", [.lack(others: 0, started: 0, at: 1)], 0, false),
            ("what others had left may still be open", [.lack(others: 0, started: 0, at: 1)], 1.2, false),
            (
                "another found some since", [.lack(others: 0, started: 0, at: 1), .found], 3, false
            ),
            (
                "others held some since", [.lack(others: 0, started: 0, at: 1), .lack(others: 2, started: 2, at: 2)], 3,
                false
            ),
            (
                "another that found none begins too early",
                [
                    .lack(others: 0, started: 0, at: 1), .lack(others: 0, started: 1.1, at: 1.2),
                ], 1.3, true
            ),
        ] as [(String, [LackEvent], Double, Bool)])
    func aJobIsAloneInALackOnceOtherDescriptorsAreClosed(
        because reason: String, before events: [LackEvent], started: Double, isAlone: Bool
    ) {
        var lack = DescriptorLack()
        for event in events {
            switch event {
            case .lack(let others, let started, let now):
                _ = lack.noted(others: others, started: .seconds(started), now: .seconds(now))
            case .found: lack.found()
            }
        }
        let wasAlone = lack.noted(others: 0, started: .seconds(started), now: .seconds(4))
        #expect(wasAlone == isAlone, "\(reason)")
    }

    enum LackEvent {
        case lack(others: Int, started: Double, at: Double)
        case found
    }

    @Test func aLackIsReportedOnceAMinute() {
        var lack = DescriptorLack()
        let reported = [0.0, 1, 59, 60, 61].map { lack.tells(now: MonotonicTime.seconds($0)) }
        #expect(reported == [true, false, false, true, false])
    }

    @Test func lanesWithoutARouteAreRetriedAfterAWhile() {
        let lane = Lane(batch: 1, origin: "http://h.example")
        var lanes = UnreachableLanes()
        let value8 = lanes.nextLook(now: MonotonicTime.seconds(0))
        #expect(value8 == nil)
        lanes.insert(lane)
        let value9 = lanes.lanes(now: MonotonicTime.seconds(1))
        #expect(value9 == [lane])
        let value10 = lanes.nextLook(now: MonotonicTime.seconds(1))
        #expect(value10 == MonotonicTime.seconds(31))
        // Queries before the time do not postpone it.
        let value11 = lanes.nextLook(now: MonotonicTime.seconds(20))
        #expect(value11 == MonotonicTime.seconds(31))
        let value12 = lanes.lanes(now: MonotonicTime.seconds(31)).isEmpty
        #expect(value12)
        let value13 = lanes.nextLook(now: MonotonicTime.seconds(31))
        #expect(value13 == nil)
    }
}
