import TransferCore

/// The shares of a file that came from several sources at once, to choose the bytes to fetch again after a mismatch.
/// Pure.
struct MixedFile: Sendable {
    struct Share: Sendable {
        let url: String
        /// The source's validator; `nil` if no part was requested by one.
        let validator: Validator?
        var ranges: ByteRanges
    }

    let total: Int64
    /// The sources. The first one began the file, and its share includes all bytes that no other source brought.
    let shares: [Share]

    /// The bytes to keep, and the source to ask for the rest.
    struct Verdict: Sendable {
        let kept: ByteRanges
        let source: Share
        /// Whether that source is the one that began the file.
        let isFirst: Bool
        /// The URLs of other sources that brought wrong bytes, if these are known.
        var blamed: [String] = []
    }

    /// Decides on the shares.
    ///
    /// - Parameter wrong: The ranges that piece digests show to be wrong; `nil` if there is only a digest of the whole.
    ///   Then the first source is asked again for the other sources' bytes. If the file is still wrong, another source
    ///   is asked for all of it.
    func verdict(wrong: [Range<Int64>]?) -> Verdict? {
        guard let first = shares.first, shares.count > 1 else { return nil }
        guard let wrong, !wrong.isEmpty else {
            return Verdict(kept: first.ranges, source: first, isFirst: true)
        }
        var kept = ByteRanges(0..<total)
        for range in wrong { kept.remove(range) }
        // The source that brought the fewest wrong bytes is asked for them.
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
