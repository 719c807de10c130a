import Synchronization
import TransferJobs

/// The ends of jobs, in order, each at least once.
///
/// Of watched folders' jobs only those that are kept: what was dropped, as its file was gone or another version, has no
/// row any more, and of what is complete only the rows among the last thousand ends stay.
public struct JobEnds: AsyncSequence, Sendable {
    public typealias Element = QueueEvent
    let queue: JobQueue
    let hub: EventHub
    let cursor: Int64

    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, hub: hub, cursor: cursor) }

    public struct Iterator: AsyncIteratorProtocol {
        private let queue: JobQueue
        private let bell: Bell
        private var cursor: Int64
        private var page: [QueueEvent] = []

        init(queue: JobQueue, hub: EventHub, cursor: Int64) {
            self.queue = queue
            self.cursor = cursor
            bell = Bell(hub)
        }

        /// - Throws: When the database fails, and `CancellationError`.
        public mutating func next() async throws -> QueueEvent? {
            while page.isEmpty {
                try Task.checkCancellation()
                // Taken before the question: an end that is recorded after it rings again.
                let rung = bell.count
                page = try await queue.ends(after: cursor, limit: 256).reversed()
                if page.isEmpty { await bell.wait(after: rung) }
            }
            let event = page.removeLast()
            cursor = event.cursor ?? cursor
            return event
        }
    }
}

/// Tells a reader of the database that there is more; however often it rings, it costs nothing to keep.
final class Bell: Sendable {
    private struct State {
        var count = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let hub: EventHub
    private let number = Mutex(0)

    init(_ hub: EventHub) {
        self.hub = hub
        let observer = hub.add { [weak self] event in
            if event.cursor != nil { self?.ring() }
        }
        number.withLock { $0 = observer }
    }

    deinit { hub.remove(number.withLock { $0 }) }

    var count: Int { state.withLock { $0.count } }

    func ring() {
        let waiter = state.withLock { state in
            state.count += 1
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns when it has rung since `count`, and when the task is cancelled.
    func wait(after count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count == count, !Task.isCancelled else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
    }
}
