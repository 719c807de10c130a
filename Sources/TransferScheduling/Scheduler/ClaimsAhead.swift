/// The number of a lane's jobs that are claimed before they can start.
package struct ClaimsAhead: Sendable, Hashable {
    /// So many are asked for at a time.
    package let page: Int
    /// Of a lane that has no more than that claimed, more is claimed.
    package let lowMark: Int

    /// Of a batch that one process works on: of small jobs so many may start while the store is still at a record.
    package static let alone = ClaimsAhead(page: 256, lowMark: 192)
    /// Of a batch that others work on, too: what one has claimed and can't start yet they could.
    package static let shared = ClaimsAhead(page: 32, lowMark: 16)
}
