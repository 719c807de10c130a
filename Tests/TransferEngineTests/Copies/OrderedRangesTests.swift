import Testing

@testable import TransferEngine

/// The plan by which several connections bring one stream in its order.
@Suite struct OrderedRangesTests {
    private static let mebibyte: Int64 = 1 << 20

    /// A plan with chunks of 1 MiB, the first of them 1 MiB ahead, within 16 MiB.
    private static let plan = OrderedRanges.Plan(pace: Double(mebibyte), bound: 16 << 20)

    private func ranges(_ mebibytes: Int64 = 64, at head: Int64 = 0) -> Subject {
        Subject(total: mebibytes << 20, head: head)
    }

    @Test(
        arguments: [
            (0, 256 << 10, 256 << 10), (1_048_576, 1 << 20, 1 << 20), (100e6, 2 << 20, 8 << 20),
            (.infinity, 2 << 20, 8 << 20),
        ] as [(Double, Int64, Int64)])
    func aChunkIsASecondOfAConnectionWithinBounds(_ pace: Double, _ length: Int64, _ distance: Int64) {
        let plan = OrderedRanges.Plan(pace: pace, bound: 16 << 20)
        #expect(plan.length == length && plan.distance == distance)
    }

    @Test func aSmallBoundMakesSmallChunks() {
        let plan = OrderedRanges.Plan(pace: 1e9, bound: 1 << 20)
        #expect(plan.length == 128 << 10 && plan.distance == 512 << 10)
    }

    @Test func chunksFollowEachOtherAheadOfTheLeaderUpToTheBound() {
        let ranges = ranges()
        var starts: [Int64] = []
        while let chunk = ranges.claim(Self.plan, before: .max) {
            #expect(chunk.end - chunk.start == Self.mebibyte)
            starts.append(chunk.start >> 20)
        }
        #expect(starts == Array(1...15))
        // The next chunk is planned when the head has moved by a whole chunk.
        #expect(ranges.leading(1000).count == 1000)
        #expect(ranges.claim(Self.plan, before: .max) == nil)
    }

    @Test func noChunkBeginsWhereNoReaderWantsBytesYet() {
        let ranges = ranges()
        #expect(ranges.claim(Self.plan, before: Self.mebibyte) == nil)
        #expect(ranges.claim(Self.plan, before: Self.mebibyte + 1)?.start == Self.mebibyte)
    }

    @Test func theLastChunkEndsWithTheStream() throws {
        let ranges = Subject(total: 3 * Self.mebibyte + 1000, head: 0)
        #expect(ranges.claim(Self.plan, before: .max)?.end == 2 << 20)
        // A short rest is no chunk of its own.
        let last = try #require(ranges.claim(Self.plan, before: .max))
        #expect(last.end == ranges.total)
        #expect(ranges.claim(Self.plan, before: .max) == nil)
    }

    @Test func theLeaderEndsWhereAChunkHasTheNextByte() throws {
        let ranges = ranges()
        let chunk = try #require(ranges.claim(Self.plan, before: .max))
        #expect(ranges.received(chunk.number, 10) == 10)
        #expect(ranges.ready == nil)
        #expect(ranges.leading(1 << 20 | 500) == .init(count: 1 << 20, stops: true))
        #expect(ranges.ready?.number == chunk.number && ranges.ready?.count == 10)
        #expect(!ranges.needsLead)
        #expect(ranges.handOn(10) == nil)
        #expect(ranges.ready == nil && ranges.head == 1 << 20 | 10)
    }

    @Test func theLeaderFetchesAChunkItselfOfWhichNoByteHasCome() throws {
        let ranges = ranges()
        let chunk = try #require(ranges.claim(Self.plan, before: .max))
        #expect(ranges.leading(1 << 20) == .init(count: 1 << 20))
        #expect(ranges.leading(1) == .init(count: 1, dropped: [chunk.number]))
        #expect(ranges.received(chunk.number, 10) == 0)
        #expect(ranges.chunks.isEmpty && ranges.head == 1 << 20 | 1)
    }

    @Test func aLeaderWithAnEndLeavesItsConnectionToTheNextRequest() throws {
        let ranges = ranges(at: 4 << 20)
        #expect(ranges.lead(length: 2 << 20) == 6 << 20)
        let chunk = try #require(ranges.claim(Self.plan, before: .max))
        #expect(chunk.start == 6 << 20)
        #expect(ranges.received(chunk.number, 1) == 1)
        #expect(ranges.leading(2 << 20) == .init(count: 2 << 20))
        #expect(ranges.ready == nil)
        #expect(ranges.leadEnded())
        #expect(ranges.ready?.count == 1)
    }

    @Test func aLeaderThatBreaksOffIsNeededAgain() {
        let ranges = ranges()
        _ = ranges.leading(1000)
        #expect(!ranges.leadEnded())
        #expect(ranges.lead(length: nil) == ranges.total)
    }

    @Test func theMissingBytesOfALostChunkAreFetchedAgainAndNoOthers() throws {
        let ranges = ranges()
        let chunks = try (0..<3).map { _ in try #require(ranges.claim(Self.plan, before: .max)) }
        _ = ranges.received(chunks[1].number, 1000)
        #expect(!ranges.ended(chunks[1].number))
        let again = try #require(ranges.claim(Self.plan, before: .max))
        #expect(again.start == chunks[1].start + 1000 && again.end == chunks[1].end)
        // A chunk without a byte becomes free as a whole.
        #expect(!ranges.ended(chunks[2].number))
        #expect(try #require(ranges.claim(Self.plan, before: .max)).start == chunks[2].start)
    }

    @Test func aChunkThatIsLostAtTheHeadNeedsALeaderUpToTheNextChunk() throws {
        let ranges = ranges()
        let chunks = try (0..<2).map { _ in try #require(ranges.claim(Self.plan, before: .max)) }
        _ = ranges.received(chunks[0].number, 1000)
        _ = ranges.leading(2 << 20)
        _ = ranges.handOn(1000)
        ranges.ended(chunks[0].number)
        #expect(ranges.needsLead)
        #expect(ranges.lead(length: nil) == chunks[1].start)
        #expect(!ranges.needsLead)
    }

    @Test func aSlowChunkAtTheHeadIsDivided() throws {
        let ranges = ranges()
        let chunk = try #require(ranges.claim(Self.plan, before: .max))
        _ = ranges.received(chunk.number, 1)
        #expect(ranges.divideHead(Self.plan) == nil, "the leader is at the head")
        _ = ranges.leading(2 << 20)
        let later = try #require(ranges.divideHead(Self.plan))
        #expect(later.end == chunk.end && later.start == chunk.start + 1 + (Self.mebibyte - 1) / 2)
        // Its exchange ends where the later part begins.
        #expect(ranges.received(chunk.number, 1 << 20) == Int(later.start - chunk.start - 1))
        #expect(ranges.ended(chunk.number))
    }

    @Test func aChunkIsStalledOnlyWhereOthersMove() throws {
        let ranges = ranges()
        let chunks = try (0..<2).map { _ in try #require(ranges.claim(Self.plan, before: .max)) }
        #expect(ranges.stalled(now: 0).isEmpty)
        #expect(ranges.stalled(now: 60).isEmpty, "the link may be interrupted")
        _ = ranges.received(chunks[1].number, 100)
        #expect(ranges.stalled(now: 61) == [chunks[0].number])
    }

    // MARK: Whole streams

    /// Connections that bring a stream of numbered bytes with losses, refusals and different rates.
    @Test(arguments: 0..<60 as Range<UInt64>) func everyByteIsHandedOnOnceAndInOrder(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let total = Int64.random(in: 1...48 << 20, using: &random)
        let bound: Int64 = 4 << Int64.random(in: 18...20, using: &random)
        let plan = OrderedRanges.Plan(pace: .random(in: 0...3e6, using: &random), bound: bound)
        let ranges = Subject(total: total, head: 0)
        var open: [OrderedRanges.Chunk] = []
        let most = Int.random(in: 1...8, using: &random)
        var steps = 0
        while ranges.head < total {
            steps += 1
            try #require(steps < 200_000, "the stream does not end")
            if ranges.needsLead {
                let end = ranges.lead(length: Bool.random(using: &random) ? plan.length : nil)
                #expect(end > ranges.head)
            }
            while open.count < most, let chunk = ranges.claim(plan, before: .max) ?? ranges.divideHead(plan) {
                open.append(chunk)
            }
            #expect(ranges.chunks.allSatisfy { $0.end <= ranges.head + bound })
            #expect(zip(ranges.chunks, ranges.chunks.dropFirst()).allSatisfy { $0.end <= $1.start })
            #expect(ranges.waiting <= bound)
            let before = ranges.head
            if let end = ranges.leadEnd {
                let count = Int(min(Int64.random(in: 1...400_000, using: &random), end - ranges.head))
                let step = ranges.leading(count)
                #expect(ranges.head == before + Int64(step.count))
                if step.dropped.isEmpty, !step.stops { #expect(step.count == count || ranges.head == ranges.leadEnd) }
                open.removeAll { step.dropped.contains($0.number) }
                if ranges.head == ranges.leadEnd { #expect(ranges.leadEnded()) }
                if ranges.leadEnd != nil, Int.random(in: 0..<50, using: &random) == 0, !ranges.leadEnded() {
                    _ = ranges.lead(length: nil)
                }
            }
            for chunk in open where Bool.random(using: &random) {
                let count = Int.random(in: 1...300_000, using: &random)
                let isAll = ranges.received(chunk.number, count) < count
                if isAll || Int.random(in: 0..<30, using: &random) == 0 {
                    ranges.ended(chunk.number)
                    open.removeAll { $0.number == chunk.number }
                }
            }
            while let ready = ranges.ready {
                let count = Int(min(ready.count, .random(in: 1...200_000, using: &random)))
                let head = ranges.head
                _ = ranges.handOn(count)
                #expect(ranges.head == head + Int64(count))
            }
        }
        #expect(ranges.head == total && ranges.waiting == 0)
    }
}

/// A plan that expectations can change.
@dynamicMemberLookup
private final class Subject {
    private var ranges: OrderedRanges

    init(total: Int64, head: Int64) { ranges = OrderedRanges(total: total, head: head) }

    subscript<Value>(dynamicMember member: KeyPath<OrderedRanges, Value>) -> Value { ranges[keyPath: member] }

    func leading(_ count: Int) -> OrderedRanges.Step { ranges.leading(count) }

    func leadEnded() -> Bool { ranges.leadEnded() }

    func lead(length: Int64?) -> Int64 { ranges.lead(length: length) }

    func claim(_ plan: OrderedRanges.Plan, before limit: Int64) -> OrderedRanges.Chunk? {
        ranges.claim(plan, before: limit)
    }

    func divideHead(_ plan: OrderedRanges.Plan) -> OrderedRanges.Chunk? { ranges.divideHead(plan) }

    func received(_ number: Int, _ count: Int) -> Int { ranges.received(number, count) }

    @discardableResult
    func ended(_ number: Int) -> Bool { ranges.ended(number) }

    func handOn(_ count: Int) -> Int? { ranges.handOn(count) }

    func stalled(now: Double) -> [Int] { ranges.stalled(now: now) }
}

private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 1 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
