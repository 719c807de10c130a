import Testing
import TransferCore

@testable import TransferEngine

/// The checksums of a file's pieces, which are computed while the file is written.
@Suite struct PieceSumsTests {
    private func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    private func sum(_ bytes: [UInt8], hardware: Bool = true) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.sum($0, allowsHardware: hardware) }
    }

    /// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
    @Test(arguments: [true, false])
    func theSumIsCRC32C(hardware: Bool) {
        #expect(sum(Array("123456789".utf8), hardware: hardware) == 0xE306_9283)
        #expect(sum([UInt8](repeating: 0, count: 32), hardware: hardware) == 0x8A91_36AA)
        #expect(sum([UInt8](repeating: 0xFF, count: 32), hardware: hardware) == 0x62A8_AB43)
        #expect(sum([], hardware: hardware) == 0)
    }

    /// The sizes include ones longer than the lanes in which the instruction is used.
    @Test(arguments: [1, 7, 8, 9, 4095, 12_287, 12_288, 12_289, 40_001])
    func tablesAndInstructionAgree(count: Int) {
        let content = bytes(count)
        #expect(sum(content) == sum(content, hardware: false))
        let half = count / 2
        let (first, second) = (Array(content[..<half]), Array(content[half...]))
        #expect(CRC32C.joined(sum(first), sum(second), length: Int64(second.count)) == sum(content))
    }

    @Test func eachPieceHasItsSumForAnySizeOfWrites() throws {
        let piece = Int(PieceSumList.shortestPiece)
        let content = bytes(2 * piece + 12_345)
        for step in [piece - 1, piece, 700_001] {
            let sums = PieceSums()
            var offset = 0
            while offset < content.count {
                let end = min(content.count, offset + step)
                content[offset..<end].withUnsafeBytes { sums.add($0, at: Int64(offset)) }
                offset = end
            }
            let list = try #require(sums.list(of: Int64(content.count)))
            #expect(list.length == PieceSumList.shortestPiece && list.sums.count == 3)
            #expect(list.sums[1] == sum(Array(content[piece..<2 * piece])))
            #expect(list.sums[2] == sum(Array(content[(2 * piece)...])))
            #expect(list.range(ofPiece: 2) == Int64(2 * piece)..<Int64(content.count))
            #expect(PieceSumList(encoded: list.encoded) == list)
        }
    }

    @Test func outOfOrderWritesHaveNoSums() {
        let sums = PieceSums()
        let content = bytes(100)
        content.withUnsafeBytes { sums.add($0, at: 50) }
        #expect(sums.list(of: 150) == nil)
        // A write at offset 0 restarts the sums.
        content.withUnsafeBytes { sums.add($0, at: 0) }
        #expect(sums.list(of: 100) != nil && sums.list(of: 99) == nil)
        content.withUnsafeBytes { sums.add($0, at: 101) }
        #expect(sums.list(of: 201) == nil)
        #expect(PieceSums().list(of: 0)?.sums == [])
    }

    @Test(
        arguments: [
            [], [1], [1, 22, 1, 0, 0, 0, 0, 0, 0, 0], [2, 22, 0, 0, 0, 0, 0, 0, 0, 0], [1, 63, 0, 0, 0, 0, 0, 0, 0, 0],
            [1, 22, 0, 0, 0, 0, 0, 0, 0, 0, 1], [1, 22, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
        ] as [[UInt8]])
    func anotherFormIsNoList(bytes: [UInt8]) { #expect(PieceSumList(encoded: bytes) == nil) }
}
