/// The number of a lane's jobs that are claimed before they can start.
package struct ClaimsAhead: Sendable, Hashable {
    /// So many are asked for at a time.
    package let page: Int
    /// A lane with no more claimed jobs than that asks for another page.
    package let lowMark: Int

    /// For a batch that one process works on. Small jobs are quick: so many of them may start while the store still records.
    package static let alone = ClaimsAhead(page: 256, lowMark: 192)
    /// For a batch that other processes work on too: they could start jobs that this one has claimed and can't start yet.
    ///
    /// - Parameter concurrency: Transfers of this process at once.
    package static func shared(concurrency: Int) -> ClaimsAhead {
        let lowMark = min(16, max(1, concurrency))
        return ClaimsAhead(page: 2 * lowMark, lowMark: lowMark)
    }
}
