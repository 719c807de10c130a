import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferQueue

/// The source of wrong bytes in a file that only has a digest of the whole.
@Suite struct MixComparisonTests {
    private static let total: Int64 = 1000

    private static func mix(_ shares: [[Range<Int64>]]) -> MixedFile {
        MixedFile(
            total: total,
            shares: shares.enumerated().map { index, ranges in
                var all = ByteRanges()
                for range in ranges { all.insert(range) }
                return MixedFile.Share(url: "https://\(index).example/x", validator: nil, ranges: all)
            })
    }

    /// Sources, one of which has different bytes at some positions; the file consists of their shares.
    private struct World {
        let mix: MixedFile
        let wrong: Int
        let positions: Set<Int64>
        private(set) var fetched: Int64 = 0
        private var owners: [Int] = []
        private var found: [Int64] = []

        init(_ mix: MixedFile, wrong: Int, at positions: Set<Int64>) {
            self.mix = mix
            self.wrong = wrong
            self.positions = positions
        }

        private func owner(_ position: Int64) -> Int {
            mix.shares.firstIndex { $0.ranges.gaps(in: position..<position + 1).isEmpty } ?? 0
        }

        /// Acts as the sources and the digest until the comparison ends.
        mutating func end() -> MixComparison.Action {
            var comparison = MixComparison(mix)
            var action = comparison.begin()
            while true {
                switch action {
                case .found, .undecided: return action
                case .compare(let range, let source):
                    let other = positions.filter { position in
                        range.contains(position) && (owner(position) == wrong) != (source == wrong)
                    }.min()
                    let end = other.map { $0 + 1 } ?? range.upperBound
                    fetched += end - range.lowerBound
                    if let other {
                        owners.append(owner(other))
                        found.append(other)
                    }
                    action = comparison.compared(to: end, isDifferent: other != nil)
                case .judge(let numbers, _):
                    // Exactly these positions have the second version; all other positions have the first one.
                    let replaced = Set(numbers.map { found[$0] })
                    let isRight = positions.allSatisfy { (owner($0) == wrong) == replaced.contains($0) }
                    action = comparison.judged(isRight: isRight)
                }
            }
        }
    }

    @Test(arguments: [0, 1]) func oneWrongByteInTheMiddleCostsHalfTheFile(_ wrong: Int) {
        let halves: [[[Range<Int64>]]] = [
            [[0..<500], [500..<1000]], [[0..<250, 500..<750], [250..<500, 750..<1000]],
        ]
        for shares in halves {
            let mix = Self.mix(shares)
            let position: Int64 = mix.shares[wrong].ranges.gaps(in: 500..<501).isEmpty ? 500 : 499
            var world = World(mix, wrong: wrong, at: [position])
            #expect(world.end() == .found(suspect: wrong))
            #expect(world.fetched <= 501)
        }
    }

    @Test func theWrongSourceIsFoundForAnyShare() {
        var random = SplitMix64(state: 9077)
        for _ in 0..<500 {
            let count = Int.random(in: 2...4, using: &random)
            var shares = [[Range<Int64>]](repeating: [], count: count)
            var position: Int64 = 0
            while position < Self.total {
                let end = min(Self.total, position + .random(in: 1...300, using: &random))
                shares[.random(in: 0..<count, using: &random)].append(position..<end)
                position = end
            }
            shares = shares.filter { !$0.isEmpty }
            guard shares.count > 1 else { continue }
            let wrong = Int.random(in: shares.indices, using: &random)
            let amount = Int.random(in: 1...20, using: &random)
            let positions = Set((0..<amount).map { _ in Int64.random(in: 0..<Self.total, using: &random) })
            let mix = Self.mix(shares)
            // A source cannot have damaged the parts that it did not deliver.
            guard positions.contains(where: { mix.shares[wrong].ranges.gaps(in: $0..<$0 + 1).isEmpty }) else {
                continue
            }
            var world = World(mix, wrong: wrong, at: positions)
            #expect(world.end() == .found(suspect: wrong), "\(shares) \(wrong) \(positions.sorted())")
            #expect(world.fetched <= Self.total)
        }
    }

    @Test func aByteThatIsWrongInAllSourcesBlamesNone() {
        var comparison = MixComparison(Self.mix([[0..<500], [500..<1000]]))
        #expect(comparison.begin() == .compare(0..<500, source: 1))
        #expect(comparison.compared(to: 500, isDifferent: false) == .compare(500..<1000, source: 0))
        #expect(comparison.compared(to: 1000, isDifferent: false) == .undecided)
    }

    @Test func aSourceThatFailsThriceInARowIsNotAskedAgain() {
        var comparison = MixComparison(Self.mix([[0..<500], [500..<1000]]))
        _ = comparison.begin()
        #expect(comparison.compared(to: 0, isDifferent: false, hasFailed: true) == .compare(0..<500, source: 1))
        #expect(comparison.compared(to: 100, isDifferent: false, hasFailed: true) == .compare(100..<500, source: 1))
        #expect(comparison.compared(to: 100, isDifferent: false, hasFailed: true) == .compare(100..<500, source: 1))
        #expect(comparison.compared(to: 100, isDifferent: false, hasFailed: true) == .undecided)
    }

    @Test func sourcesWithManyDifferencesHaveDifferentFiles() {
        var comparison = MixComparison(Self.mix([[0..<500], [500..<1000]]))
        var action = comparison.begin()
        var differences: Int64 = 0
        while action != .undecided, differences < 500 {
            if case .judge = action {
                action = comparison.judged(isRight: false)
            } else {
                differences += 1
                action = comparison.compared(to: differences, isDifferent: true)
            }
        }
        #expect(differences == Int64(MixComparison.mostDifferences) + 1)
    }
}
