import Synchronization
import TransferQueue

/// The events of the queue for all clients that follow it: one reader queries the queue, and all streams read from the
/// feed.
///
/// The feed keeps the last frames. A stream that falls further behind continues from the database, which has the ends
/// of jobs.
final class EventFeed: Sendable {
    struct Frame: Sendable {
        /// The cursor of the end that the frame reports; `nil` for other frames.
        let cursor: Int64?
        /// The kind of the frame, such as `job.failed`; empty for one that only shows that the service is alive.
        let name: String
        /// Whether the next frame of this kind makes this one outdated.
        var isSnapshot = false
        let batch: String
        let data: [UInt8]
    }

    /// The result of a stream's request for more frames.
    enum Portion: Sendable {
        /// Frames that follow the position.
        ///
        /// - Parameter next: The position of the next request.
        case frames([Frame], next: Int)
        /// The frames from the requested position on are no longer kept.
        case behind
        case over
    }

    private struct State {
        /// The frames; an outdated snapshot is `nil`.
        var frames: [Frame?] = []
        /// The position of the first frame that is kept.
        var first = 0
        /// The position of the last snapshot.
        var snapshot = 0
        /// The cursor of the last reported end.
        var cursor: Int64 = 0
        var streams = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var isOver = false

        var next: Int { first + frames.count }
    }

    private let state = Mutex(State())
    private let mostStreams: Int
    private static let kept = 4096

    init(_ limits: ServerLimits) { mostStreams = limits.eventStreams }

    /// Marks the ends up to this cursor as reported or previously existing.
    func begin(at cursor: Int64) { state.withLock { $0.cursor = max($0.cursor, cursor) } }

    func add(_ frame: Frame) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            // A long snapshot each second would fill the memory.
            if frame.isSnapshot {
                if state.snapshot >= state.first, state.snapshot < state.next,
                    state.frames[state.snapshot - state.first]?.isSnapshot == true
                {
                    state.frames[state.snapshot - state.first] = nil
                }
                state.snapshot = state.next
            }
            state.frames.append(frame)
            if let cursor = frame.cursor { state.cursor = max(state.cursor, cursor) }
            // Half of the frames are removed at once, so that not every new frame moves all the others.
            if state.frames.count > 2 * Self.kept {
                state.frames.removeFirst(Self.kept)
                state.first += Self.kept
            }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether any client follows the events.
    var isHeard: Bool { state.withLock { $0.streams > 0 } }

    var streams: Int { state.withLock { $0.streams } }

    /// Registers a stream.
    ///
    /// - Returns: `nil` where too many clients follow already.
    func join() -> Seat? {
        let present = state.withLock { state -> (Int, Int64)? in
            guard state.streams < mostStreams else { return nil }
            state.streams += 1
            return (state.next, state.cursor)
        }
        return present.map { Seat(self, place: $0, cursor: $1) }
    }

    /// The registration of a stream, which ends with this object, even for a stream that never begins.
    final class Seat: Sendable {
        private let feed: EventFeed
        /// The position of the next frame.
        let place: Int
        /// The cursor of the last reported end.
        let cursor: Int64

        fileprivate init(_ feed: EventFeed, place: Int, cursor: Int64) {
            self.feed = feed
            self.place = place
            self.cursor = cursor
        }

        deinit { feed.state.withLock { $0.streams -= 1 } }
    }

    /// The position of the next frame, and the cursor of the last reported end, for a stream that continues from the
    /// database.
    var present: (place: Int, cursor: Int64) { state.withLock { ($0.next, $0.cursor) } }

    /// Waits for frames and returns them.
    func portion(from place: Int) async -> Portion {
        while true {
            let portion = state.withLock { state -> Portion? in
                if state.isOver { return .over }
                guard place >= state.first else { return .behind }
                guard place < state.next else { return nil }
                return .frames(state.frames[(place - state.first)...].compactMap(\.self), next: state.next)
            }
            if let portion { return portion }
            if Task.isCancelled { return .over }
            await wait(from: place)
        }
    }

    private func wait(from place: Int) async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard !state.isOver, place >= state.next, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// Ends all streams.
    func end() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }
}
