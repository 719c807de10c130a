import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Servers that refuse some of many transfers, or reset their connections.
@Suite struct ConcurrencyBackoffTests {
    private func level(_ places: Int) -> ConcurrencyProbe {
        var level = ConcurrencyProbe(first: 6)
        var time = 0.0
        // The number of simultaneous answers equals the number of places.
        while level.places < places, time < 60 {
            time += 0.05
            for _ in 0..<level.places { level.answered(isFull: true, now: .seconds(time)) }
        }
        #expect(level.places == places)
        return level
    }

    @Test(arguments: [(24, 12), (48, 24)]) func aRefusalHalvesOnceForAllThatWereUnderWay(places: Int, half: Int) {
        var level = level(places)
        for number in 0..<places {
            let now = 100 + Double(number) * 0.01
            level.refused(.answer, inUse: places - number, since: .seconds(99), now: .seconds(now))
        }
        #expect(level.places == half && level.connections == half)
        // A transfer that began afterwards shows that this number is too large as well.
        level.refused(.answer, inUse: half, since: .seconds(100.5), now: .seconds(101))
        #expect(level.places == half / 2)
    }

    @Test(arguments: [
        (ConcurrencyBackoff.Refusal.answer, 6, [3, 1, 1]), (.brokenOff, 6, [6, 6, 6]),
        (.answer, 24, [12, 6, 3, 1, 1]), (.brokenOff, 24, [12, 6, 6]),
    ]) func onePlaceAlwaysRemainsAndBrokenAnswersLeaveSix(
        refusal: ConcurrencyBackoff.Refusal, places: Int, expected: [Int]
    ) {
        var level = level(places)
        var now = 100.0
        let seen = expected.map { _ in
            level.refused(refusal, inUse: max(2, level.places), since: .seconds(now), now: .seconds(now + 1))
            now += 2
            return level.places
        }
        #expect(seen == expected)
    }

    @Test func aSingleRefusedTransferIsNoCrowd() {
        var level = level(12)
        level.refused(.answer, inUse: 1, since: .seconds(99), now: .seconds(100))
        #expect(level.places == 12 && level.connections == 64)
    }

    /// The server takes ten: after some attempts the level is ten, and few requests are refused later.
    @Test func theLevelFindsTheServersLimitWithoutSwinging() {
        var level = level(24)
        var refusals: [Double] = []
        var highest: [Int] = []
        for second in 100..<4000 {
            let now = Double(second)
            level.look(isFull: true, now: .seconds(now))
            highest.append(level.places)
            if level.places > 10 {
                level.refused(.answer, inUse: level.places, since: .seconds(now - 0.1), now: .seconds(now))
                refusals.append(now)
            }
        }
        #expect(refusals.count <= 8, "\(refusals)")
        #expect(refusals.filter { $0 > 400 }.count <= 4, "\(refusals)")
        let later = highest.dropFirst(300)
        #expect(Double(later.reduce(0, +)) / Double(later.count) > 9, "it has ten most of the time")
    }

    @Test func placesReturnOneInTenSecondsAndGrowthResumesAfterFiveMinutes() {
        var level = level(12)
        let found = level.places
        level.refused(.answer, inUse: 12, since: .seconds(99), now: .seconds(100))
        var seen: [Int] = []
        for second in stride(from: 105.0, through: 165, by: 10) {
            level.look(isFull: true, now: .seconds(second))
            seen.append(level.connections)
        }
        #expect(found == 12 && seen == [6, 7, 8, 9, 10, 11, 11], "one less than were refused")
        level.look(isFull: true, now: .seconds(399))
        #expect(level.connections == 11)
        level.look(isFull: true, now: .seconds(410))
        #expect(level.connections == 12)
        level.look(isFull: true, now: .seconds(1000))
        #expect(level.connections == 64, "nothing is left of it")
    }

    /// The additional connections of one file are more than the places of jobs.
    @Test func connectionsOfOneFileAreHalvedWhenTheyExceedTheJobs() {
        var level = ConcurrencyProbe(first: 6)
        #expect(level.connections == 64)
        level.refused(.answer, inUse: 16, since: .seconds(99), now: .seconds(100))
        #expect(level.connections == 8 && level.places == 6)
    }
}
