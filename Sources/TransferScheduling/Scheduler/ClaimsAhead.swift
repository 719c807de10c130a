/// The number of a lane's jobs that are claimed before they can start.
package struct ClaimsAhead: Sendable, Hashable {
    /// The number of jobs in one claim.
    package let page: Int
    /// The number of claimed jobs at which a lane claims another page.
    package let lowMark: Int

    /// The numbers for a batch of one process. Small jobs are quick, so many may start while the store still records.
    package static let alone = ClaimsAhead(page: 256, lowMark: 192)
    /// Returns the numbers for a shared batch, in which other processes could start the jobs that this one claims too
    /// early.
    ///
    /// - Parameter concurrency: The number of transfers of this process at once.
    package static func shared(concurrency: Int) -> ClaimsAhead {
        let lowMark = min(16, max(1, concurrency))
        return ClaimsAhead(page: 2 * lowMark, lowMark: lowMark)
    }
}
