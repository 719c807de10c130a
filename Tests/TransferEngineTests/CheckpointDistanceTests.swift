import Testing

@testable import TransferEngine

/// The bytes that a kill may cost where only durable bytes count after it.
@Suite struct CheckpointDistanceTests {
    private static let mebibyte: Int64 = 1 << 20

    @Test(arguments: [(0, 8), (8, 8), (16, 16), (48, 48), (64, 64), (4096, 64)] as [(Int64, Int64)])
    func theDistanceGrowsWithTheDurableBytes(_ durable: Int64, _ expected: Int64) {
        let found = CheckpointDistance.after(durable * Self.mebibyte, outlivesKills: false)
        #expect(found == expected * Self.mebibyte)
    }

    @Test func theDistanceIsLongWhereBytesOutliveKills() {
        #expect(CheckpointDistance.after(0, outlivesKills: true) == 64 * Self.mebibyte)
    }
}
