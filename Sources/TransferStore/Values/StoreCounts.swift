/// The figures of a store for tools that measure the queue.
package struct StoreCounts: Sendable, Hashable {
    /// The time at which the oldest unfinished job of the batches was first counted, in milliseconds since 1970.
    package var oldest: Int64?
    /// The number of a job before which no job of the batches is open.
    package var firstOpen: Int64
    /// The size of the store's files, in bytes.
    package var bytes: Int64

    package init(oldest: Int64? = nil, firstOpen: Int64 = 0, bytes: Int64 = 0) {
        self.oldest = oldest
        self.firstOpen = firstOpen
        self.bytes = bytes
    }
}
