import Testing

@testable import TransferCore

@Suite struct RangeMapTests {
    @Test func aFreeConnectionTakesTheLaterHalfOfTheLargestClaim() throws {
        var map = RangeMap(total: 64 << 20)
        let lead = map.claim(0..<(64 << 20), position: 0)
        let next = map.claimNext()
        let number = try #require(next)
        #expect(map.claims[number]?.start == 32 << 20 && map.claims[number]?.end == 64 << 20)
        #expect(map.claims[lead]?.end == 32 << 20)
    }

    @Test func unclaimedRangesComeBeforeClaimedOnes() throws {
        var received = ByteRanges(0..<(1 << 20))
        received.insert((3 << 20)..<(4 << 20))
        var map = RangeMap(total: 64 << 20, received: received)
        _ = map.claim((4 << 20)..<(64 << 20))
        let next = map.claimNext()
        let number = try #require(next)
        #expect(map.claims[number]?.start == 1 << 20 && map.claims[number]?.end == 3 << 20)
    }

    /// The division is proportional to the rates.
    @Test(arguments: [(1.0, 1.0, 0.5), (3, 1, 0.75), (1, 3, 0.25), (1000, 1, 0.95)])
    func aClaimIsDividedByTheRates(_ own: Double, _ other: Double, _ share: Double) throws {
        var map = RangeMap(total: 100 << 20)
        let lead = map.claim(0..<(100 << 20))
        let next = map.claimNext(rate: own, rates: [lead: other])
        let number = try #require(next)
        let left = try #require(map.claims[number]?.left)
        #expect(abs(Double(left) / Double(100 << 20) - share) < 0.01)
    }

    @Test func theOneThatTakesLongestIsDivided() throws {
        var map = RangeMap(total: 100 << 20)
        let slow = map.claim(0..<(20 << 20))
        let fast = map.claim((20 << 20)..<(100 << 20))
        let next = map.claimNext(rate: 10e6, rates: [slow: 1e6, fast: 50e6])
        let number = try #require(next)
        #expect(map.claims[number]?.end == 20 << 20)
    }

    @Test func aLittleIsNotDivided() {
        var map = RangeMap(total: 300 << 10)
        _ = map.claim(0..<(300 << 10))
        #expect(map.claimNext() == nil)
    }

    /// The bytes that the server of a cut claim sends until the cut reaches it are limited to an eighth of the file.
    @Test(arguments: [
        // Each tuple has the rate of each connection in bytes a second, the round trip, and the least number of
        // divisions.
        (1e6, 0.1, 31), (10e6, 0.1, 8), (10e6, 0.3, 2), (10e6, 1, 0), (0, 1, 31),
    ])
    func divisionsSendAnEighthOfTheFileInVainAtMost(_ rate: Double, _ roundTrip: Double, _ least: Int) {
        var map = RangeMap(total: 64 << 20)
        var claims = [map.claim(0..<(64 << 20))]
        while claims.count < 32,
            let next = map.claimNext(
                rates: Dictionary(uniqueKeysWithValues: claims.map { ($0, rate) }),
                way: RangeMap.Way(roundTrip: roundTrip))
        {
            claims.append(next)
        }
        #expect(claims.count - 1 >= least && (least > 0 || claims.count == 1))
        #expect(map.overrun <= map.total / 8)
    }

    /// The rates of claims are averages of their whole life. The best common rate shows how much is on the way now.
    @Test func aFullQueueIsPricedByTheCurrentRate() {
        for (best, isDivided) in [(0.0, true), (20e6, false)] {
            var map = RangeMap(total: 64 << 20)
            let lead = map.claim(0..<(64 << 20))
            let way = RangeMap.Way(roundTrip: 0.5, rate: best)
            #expect((map.claimNext(rates: [lead: 10e6], way: way) != nil) == isDivided)
        }
    }

    @Test func aSlowConnectionIsRelievedWhateverFastOnesHaveCost() throws {
        var map = RangeMap(total: 64 << 20)
        let fast = map.claim(0..<(32 << 20))
        let slow = map.claim((32 << 20)..<(64 << 20))
        let rates = [fast: 8e6, slow: 1e5]
        let way = RangeMap.Way(roundTrip: 1)
        let claimed = map.claimNext(rate: 8e6, rates: rates, way: way)
        let first = try #require(claimed)
        #expect(map.claims[slow]?.end == map.claims[first]?.start)
        let cut = try #require(map.claims[slow]?.end)
        map.advance(slow, to: cut)
        map.release(slow)
        #expect(map.overrun == 100_000)
        let end = map.claims[first]?.end
        for _ in 0..<2 { _ = map.claimNext(rate: 8e6, rates: [fast: 8e6, first: 8e6], way: way) }
        // A claim that is divided twice costs its end once, and a further division cannot be paid.
        #expect(map.overrun == 8_100_000 && map.claims[first]?.end == end)
    }

    @Test func aClaimThatEndsBeforeANewConnectionHelpsIsNotDivided() {
        var map = RangeMap(total: 8 << 20)
        let only = map.claim(0..<(8 << 20))
        var other = map
        #expect(map.claimNext(rates: [only: 4e6], way: RangeMap.Way(start: 1.5)) == nil)
        #expect(other.claimNext(rates: [only: 4e6], way: RangeMap.Way(start: 0.5)) != nil)
    }

    @Test func aFinishedClaimTakesOverEmptyClaims() {
        var map = RangeMap(total: 400)
        let lead = map.claim(0..<100)
        let mute = map.claim(100..<200)
        let late = map.claim(250..<300)
        let busy = map.claim(300..<400)
        map.advance(busy, to: 310)
        map.advance(lead, to: 100)
        map.takeOver(lead)
        // The lead takes over a claim without bytes, a gap and another such claim, up to the claim that has brought
        // bytes.
        #expect(map.claims[lead]?.end == 300 && map.claims[mute] == nil && map.claims[late] == nil)
        map.advance(lead, to: 300)
        map.takeOver(lead)
        #expect(map.claims[lead]?.isDone == true)
    }

    /// The server continues to send for a round trip after the cut. A much slower connection brings less in that time.
    @Test(arguments: [(0, 100, 0), (49, 100, 0), (50, 200, 50), (500, 200, 50)] as [(Int64, Int64, Int64)])
    func aClaimThatIsDoneTakesOverWhatIsOnItsWayInAnyCase(_ onTheWay: Int64, _ end: Int64, _ discarded: Int64) {
        var map = RangeMap(total: 200)
        let lead = map.claim(0..<100)
        let slow = map.claim(100..<200)
        map.advance(slow, to: 150)
        map.advance(lead, to: 100)
        #expect(map.takeOver(lead, onTheWay: onTheWay) == discarded)
        #expect(map.claims[lead]?.end == end && (map.claims[slow] == nil) == (end == 200))
        #expect(map.receivedCount == 150 - discarded)
    }

    /// A few bytes from a connection that was then refused are no reason to end the connection that brings the file.
    @Test func aCrumbIsFetchedAgainAndMoreIsNot() {
        let crumb: Int64 = 64 << 10
        var map = RangeMap(total: 10 * crumb)
        let lead = map.claim(0..<crumb)
        for (start, bytes) in [(1, 1), (3, crumb - 1), (6, crumb)] as [(Int64, Int64)] {
            let part = map.claim((start * crumb)..<((start + 1) * crumb))
            map.advance(part, to: start * crumb + bytes)
            map.release(part)
        }
        map.advance(lead, to: crumb)
        let discarded = map.takeOver(lead)
        #expect(discarded == crumb && map.claims[lead]?.end == 6 * crumb)
        #expect(map.receivedCount == 2 * crumb)
    }

    @Test func aClaimContinuesOverTheFollowingGap() {
        var map = RangeMap(total: 400)
        let lead = map.claim(0..<100)
        let other = map.claim(200..<400)
        map.extendOverGap(lead)
        #expect(map.claims[lead]?.end == 200)
        map.release(other)
        map.extendOverGap(lead)
        #expect(map.claims[lead]?.end == 400)
        map.advance(lead, to: 400)
        map.extendOverGap(lead)
        #expect(map.claims[lead]?.isDone == true)
    }

    /// Connections start, continue, fail and take over claims in any order. Every byte has at most one owner, and in
    /// the end all are present.
    @Test(arguments: 0..<200 as Range<UInt64>) func everyByteHasOneOwnerAtMost(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let total = Int64.random(in: 1...(40 << 20), using: &random)
        var map = RangeMap(total: total)
        for _ in 0..<2000 where !map.isComplete {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let rate = Bool.random(using: &random) ? Double.random(in: 1...1e7, using: &random) : nil
                if map.claims.count < 8 { _ = map.claimNext(rate: rate) }
            case 2...4:
                guard let (number, claim) = map.claims.randomElement(using: &random) else { continue }
                map.advance(number, to: claim.position + min(claim.left, .random(in: 0...(1 << 20), using: &random)))
            case 5:
                if let number = map.claims.keys.randomElement(using: &random) { map.extendOverGap(number) }
            case 6:
                guard let (number, claim) = map.claims.randomElement(using: &random) else { continue }
                if claim.isDone { map.takeOver(number) }
            default:
                guard let (number, claim) = map.claims.randomElement(using: &random) else { continue }
                if claim.isDone || Bool.random(using: &random) { map.release(number) }
            }
            var owned = map.settled
            for claim in map.claims.values {
                let before = owned.count
                owned.insert(claim.start..<max(claim.position, claim.end))
                #expect(owned.count - before == max(claim.position, claim.end) - claim.start)
            }
        }
        for number in map.claims.keys { map.release(number) }
        while let number = map.claimNext() {
            map.advance(number, to: map.claims[number]?.end ?? 0)
            map.release(number)
        }
        #expect(map.isComplete && map.received == ByteRanges(0..<total))
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
