import TransferCore

/// The shares of a file that came from several sources at once: what is fetched again where the whole turned out wrong. Pure.
struct MixedFile: Sendable {
    struct Share: Sendable {
        let url: String
        /// What the source calls its version; `nil` where nothing of it was asked for by that.
        let validator: Validator?
        var ranges: ByteRanges
    }

    let total: Int64
    /// The first one is of the exchange that began the file, and has everything that nobody else brought.
    let shares: [Share]

    /// What is kept of it, and who is asked for the rest.
    struct Verdict: Sendable {
        let kept: ByteRanges
        let source: Share
        /// Whether that is the source which began the file.
        let isFirst: Bool
        /// The URLs of the others that brought some of the wrong bytes, where it's known which those are.
        var blamed: [String] = []
    }

    /// - Parameter wrong: Bytes that digests of pieces show to be wrong; `nil` where only the whole has a digest. Then what
    ///   came from others than the first source is fetched again from that: where it's the one that is wrong, everything
    ///   is fetched from another after that.
    func verdict(wrong: [Range<Int64>]?) -> Verdict? {
        guard let first = shares.first, shares.count > 1 else { return nil }
        guard let wrong, !wrong.isEmpty else {
            return Verdict(kept: first.ranges, source: first, isFirst: true)
        }
        var kept = ByteRanges(0..<total)
        for range in wrong { kept.remove(range) }
        // Who brought the fewest of the wrong bytes is asked for them.
        let best = shares.indices.min { faults(shares[$0], wrong) < faults(shares[$1], wrong) } ?? 0
        let blamed = shares.indices.filter { $0 != best && faults(shares[$0], wrong) > 0 }.map { shares[$0].url }
        return Verdict(kept: kept, source: shares[best], isFirst: best == 0, blamed: blamed)
    }

    private func faults(_ share: Share, _ wrong: [Range<Int64>]) -> Int64 {
        wrong.reduce(0) { sum, range in
            sum + Int64(range.count) - share.ranges.gaps(in: range).reduce(0) { $0 + Int64($1.count) }
        }
    }
}
