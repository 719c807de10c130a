import Testing

@testable import TransferCore

@Suite struct ConnectionGrowthTests {
    /// Plays a server that gives each connection `each` bytes a second, and all of them `most`.
    /// - Parameter load: For what share of its time the thread that moves the bytes is at work.
    func play(each: Double, most: Double, size: Double, seconds: Double, load: Double = 0.1) -> [Int] {
        var growth = ConnectionGrowth(.automatic)
        var (bytes, open) = (0.0, 1)
        var counts: [Int] = []
        for step in 0..<Int(seconds / 0.2) {
            open = growth.sample(
                now: Double(step) * 0.2, bytes: Int64(bytes), left: Int64(max(0, size - bytes)),
                worked: Double(step) * 0.2 * load, connections: open)
            bytes += min(most, each * Double(open)) * 0.2
            counts.append(open)
        }
        return counts
    }

    @Test func connectionsAreDoubledWhileThatPays() {
        let counts = play(each: 8e6, most: 64e6, size: 5e9, seconds: 10)
        // Sixteen bring no more than eight.
        #expect(counts.last == 8 && counts.contains(16))
    }

    @Test func whatOneConnectionBringsSoonGetsNoOther() {
        #expect(play(each: 1e9, most: 1e9, size: 2e9, seconds: 2).max() == 1)
    }

    @Test func whereOneIsEnoughTheSecondIsClosedAgain() {
        let counts = play(each: 20e6, most: 20e6, size: 5e9, seconds: 10)
        #expect(counts.last == 1 && counts.max() == 2)
    }

    @Test func whereTheProcessorIsTheLimitThereIsNoSecond() {
        #expect(play(each: 20e6, most: 64e6, size: 5e9, seconds: 10, load: 0.95).max() == 1)
    }

    @Test func aRefusalHalvesThemForAWhile() {
        var growth = ConnectionGrowth(.exactly(8))
        #expect(growth.sample(now: 0, bytes: 0, left: 1, worked: 0, connections: 8) == 8)
        growth.refused(now: 0, connections: 8)
        #expect(growth.sample(now: 1, bytes: 0, left: 1, worked: 0, connections: 4) == 4)
        #expect(growth.sample(now: 11, bytes: 0, left: 1, worked: 0, connections: 4) == 8)
    }
}
