import TransferCore

/// Finds out which of several sources brought wrong bytes of a file that only has a digest of the whole. Pure.
///
/// Each byte is asked for a second time, from the file's beginning on and from another source than the one that brought
/// it. Where the two differ the digest judges: with the other version of all that one source brought otherwise, the file
/// is right or it isn't. The digest is asked at the first difference, and then whenever there are twice as many, as it reads
/// the whole file.
struct MixComparison {
    enum Action: Equatable {
        /// Ask the source for the range, up to the first difference.
        case compare(Range<Int64>, source: Int)
        /// Whether the file is right with the other versions of these differences.
        case judge([Int], suspect: Int)
        /// That source brought what was wrong, and the file has the other versions.
        case found(suspect: Int)
        /// It can't be told: the sources have different files, or a byte that all of them agree on is wrong.
        case undecided
    }

    /// Where sources have more differences, they have different files.
    static let mostDifferences = 64
    /// Failures in a row after which a source is not asked again.
    static let patience = 3

    private struct Run {
        let range: Range<Int64>
        let source: Int
    }

    private let total: Int64
    private let sourceCount: Int
    private let runs: [Run]
    private var position: Int64 = 0
    private var asked = 0
    private var failures: [Int: Int] = [:]
    /// Who brought each difference.
    private var owners: [Int] = []
    private var suspects: [Int] = []
    private var nextJudgement = 1
    private var judged = 0

    init(_ mix: MixedFile) {
        total = mix.total
        sourceCount = mix.shares.count
        runs = mix.shares.enumerated().flatMap { index, share in
            share.ranges.ranges.map { Run(range: $0, source: index) }
        }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    mutating func begin() -> Action { next() }

    /// - Parameters:
    ///   - position: Up to where the bytes were compared.
    ///   - isDifferent: Whether a difference ended it, which is numbered in the order of these calls.
    ///   - hasFailed: Whether the source failed.
    mutating func compared(to position: Int64, isDifferent: Bool, hasFailed: Bool = false) -> Action {
        let owner = runs.first { $0.range.contains(self.position) }?.source ?? 0
        failures[asked] = hasFailed ? (position > self.position ? 0 : failures[asked, default: 0]) + 1 : 0
        self.position = position
        guard isDifferent else { return next() }
        owners.append(owner)
        guard owners.count <= Self.mostDifferences else { return .undecided }
        return owners.count >= nextJudgement ? judge() : next()
    }

    mutating func judged(isRight: Bool) -> Action {
        if isRight { return .found(suspect: suspects[0]) }
        suspects.removeFirst()
        return suspects.isEmpty ? next() : judgement()
    }

    private mutating func judge() -> Action {
        nextJudgement = owners.count * 2
        judged = owners.count
        suspects = Set(owners).sorted()
        return judgement()
    }

    private func judgement() -> Action {
        .judge(owners.indices.filter { owners[$0] == suspects[0] }, suspect: suspects[0])
    }

    private mutating func next() -> Action {
        guard let run = runs.first(where: { $0.range.contains(position) }) else {
            return owners.count > judged ? judge() : .undecided
        }
        guard
            let other = (0..<sourceCount).first(where: {
                $0 != run.source && failures[$0, default: 0] < Self.patience
            })
        else { return .undecided }
        asked = other
        return .compare(position..<run.range.upperBound, source: other)
    }
}
