/// A store's answer to the question what there is in it.
package struct StoreCounts: Sendable, Hashable {
    /// The time at which the oldest job of the batches that hasn't ended was first counted: milliseconds since 1970.
    package var oldest: Int64?
    /// The number of a job before which none of the batches is open.
    package var firstOpen: Int64
    /// The size of its files.
    package var bytes: Int64

    package init(oldest: Int64? = nil, firstOpen: Int64 = 0, bytes: Int64 = 0) {
        self.oldest = oldest
        self.firstOpen = firstOpen
        self.bytes = bytes
    }
}
