import Testing
import TransferCore

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling

/// The small parts of a run.
@Suite struct RunPartsTests {
    @Test func commandsAreDoneOneAfterTheOther() {
        var desk = CommandDesk()
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

    @Test func onlyAJobThatBeganAfterTheLastLackWasAloneInIt() {
        var lack = DescriptorLack()
        let times = (0...4).map { MonotonicTime.seconds(Double($0)) }
        let value5 = lack.noted(others: 1, started: times[0], now: times[1])
        #expect(!value5)
        // It began together with the one before.
        let value6 = lack.noted(others: 0, started: times[0], now: times[2])
        #expect(!value6)
        let value7 = lack.noted(others: 0, started: times[3], now: times[4])
        #expect(value7)
    }

    @Test func aLackIsToldOnceAMinute() {
        var lack = DescriptorLack()
        let told = [0.0, 1, 59, 60, 61].map { lack.tells(now: MonotonicTime.seconds($0)) }
        #expect(told == [true, false, false, true, false])
    }

    @Test func lanesThatNothingLeadsToAreTriedAgainAfterAWhile() {
        let lane = Lane(batch: 1, origin: "http://h.example")
        var lanes = UnreachableLanes()
        let value8 = lanes.nextLook(now: MonotonicTime.seconds(0))
        #expect(value8 == nil)
        lanes.insert(lane)
        let value9 = lanes.lanes(now: MonotonicTime.seconds(1))
        #expect(value9 == [lane])
        let value10 = lanes.nextLook(now: MonotonicTime.seconds(1))
        #expect(value10 == MonotonicTime.seconds(31))
        // The time isn't put off by looks on the way.
        let value11 = lanes.nextLook(now: MonotonicTime.seconds(20))
        #expect(value11 == MonotonicTime.seconds(31))
        let value12 = lanes.lanes(now: MonotonicTime.seconds(31)).isEmpty
        #expect(value12)
        let value13 = lanes.nextLook(now: MonotonicTime.seconds(31))
        #expect(value13 == nil)
    }
}
