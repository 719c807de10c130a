import TransferJobs

/// The ends of jobs, in order, each at least once.
///
/// For jobs of watched folders, some ends are missing. Dropped jobs (the file was gone or another version) have no row,
/// and complete ones have it only among the last thousand ends.
public struct JobEnds: AsyncSequence, Sendable {
    /// The event of a job's end.
    public typealias Element = QueueEvent
    let queue: JobQueue
    let cursor: Int64

    /// Returns an iterator that starts after the sequence's cursor.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, cursor: cursor) }

    /// An iterator that waits for the next end. It never returns `nil`.
    public struct Iterator: AsyncIteratorProtocol {
        private let queue: JobQueue
        private let signal: WakeSignal
        private var cursor: Int64
        private var page: [QueueEvent] = []

        init(queue: JobQueue, cursor: Int64) {
            self.queue = queue
            self.cursor = cursor
            signal = queue.endSignal()
        }

        /// Waits for the next end and returns it.
        ///
        /// - Throws: The database's error if it fails, and `CancellationError`.
        public mutating func next() async throws -> QueueEvent? {
            while page.isEmpty {
                try Task.checkCancellation()
                // The count is taken before the query: an end that is recorded later rings again.
                let rung = signal.count
                page = try await queue.ends(after: cursor, limit: 256).reversed()
                if page.isEmpty { await signal.wait(after: rung) }
            }
            let event = page.removeLast()
            cursor = event.cursor ?? cursor
            return event
        }
    }
}
