import TransferJobs

/// The ends of jobs, in order, each at least once.
///
/// Of watched folders' jobs only those that are kept: what was dropped, as its file was gone or another version, has no
/// row any more, and of what is complete only the rows among the last thousand ends stay.
public struct JobEnds: AsyncSequence, Sendable {
    public typealias Element = QueueEvent
    let queue: JobQueue
    let cursor: Int64

    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, cursor: cursor) }

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

        /// - Throws: When the database fails, and `CancellationError`.
        public mutating func next() async throws -> QueueEvent? {
            while page.isEmpty {
                try Task.checkCancellation()
                // Taken before the question: an end that is recorded after it rings again.
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
