import Testing

@testable import TransferEngine

/// The acknowledged bytes of each body on a shared connection.
@Suite struct AcknowledgedSharesTests {
    typealias Body = AcknowledgedShares.Body

    @Test func queuedBytesOfASingleBodyHaveNotArrived() {
        #expect(AcknowledgedShares.settle([Body(given: 1000, acknowledged: 100)], queued: 300) == [700])
        #expect(AcknowledgedShares.settle([Body(given: 1000, acknowledged: 100)], queued: 0) == [1000])
    }

    /// The send queue also holds heads and the framing of TLS.
    @Test func moreThanTheBodyMayBeQueued() {
        #expect(AcknowledgedShares.settle([Body(given: 1000, acknowledged: 900)], queued: 5000) == [900])
    }

    @Test func severalBodiesHaveShares() {
        let bodies = [Body(given: 300, acknowledged: 0), Body(given: 100, acknowledged: 0)]
        #expect(AcknowledgedShares.settle(bodies, queued: 200) == [150, 50])
        #expect(AcknowledgedShares.settle(bodies, queued: 0) == [300, 100])
        #expect(AcknowledgedShares.settle(bodies, queued: 400) == [0, 0])
    }

    @Test func aBodyThatHasArrivedGetsNothing() {
        let bodies = [Body(given: 300, acknowledged: 300), Body(given: 100, acknowledged: 0)]
        #expect(AcknowledgedShares.settle(bodies, queued: 40) == [300, 60])
    }

    /// Over many samples no count decreases, no count exceeds the bytes that were written, and all bytes arrive in the
    /// end.
    @Test func countsOnlyGrow() {
        var generator = SeededGenerator(seed: 51)
        for _ in 0..<300 {
            var bodies = (0..<Int.random(in: 1...5, using: &generator)).map { _ in Body(given: 0, acknowledged: 0) }
            for _ in 0..<40 {
                for index in bodies.indices { bodies[index].given += .random(in: 0...5000, using: &generator) }
                let queued = Int64.random(in: -1...30_000, using: &generator)
                let counts = AcknowledgedShares.settle(bodies, queued: queued)
                for (index, count) in counts.enumerated() {
                    #expect(count >= bodies[index].acknowledged && count <= bodies[index].given)
                    bodies[index].acknowledged = count
                }
            }
            #expect(AcknowledgedShares.settle(bodies, queued: 0) == bodies.map(\.given))
        }
    }
}

private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
