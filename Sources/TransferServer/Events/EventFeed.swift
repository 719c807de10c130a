import Synchronization
import TransferQueue

/// What happens to the queue, for all who follow it: one reader asks the queue, and every stream takes from here.
///
/// The last frames are kept. A stream that falls behind them goes on from the database: the ends of jobs are there.
final class EventFeed: Sendable {
    struct Frame: Sendable {
        /// The end's own, where the frame tells an end.
        let cursor: Int64?
        /// The frame's kind, such as `job.failed`; empty for one that only shows that the service lives.
        let name: String
        let batch: String
        let data: [UInt8]
    }

    /// What a stream gets when it asks for more.
    enum Portion: Sendable {
        /// - Parameter next: The place to ask from the next time.
        case frames([Frame], next: Int)
        /// The frames from there on aren't kept any more.
        case behind
        case over
    }

    private struct State {
        var frames: [Frame] = []
        /// The place of the first frame that is kept.
        var first = 0
        /// The end that was told last.
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

    /// The ends up to this one were told, or were there before.
    func begin(at cursor: Int64) { state.withLock { $0.cursor = max($0.cursor, cursor) } }

    func add(_ frame: Frame) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.frames.append(frame)
            if let cursor = frame.cursor { state.cursor = max(state.cursor, cursor) }
            // Half of them at once, so that not each new frame moves all others.
            if state.frames.count > 2 * Self.kept {
                state.frames.removeFirst(Self.kept)
                state.first += Self.kept
            }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether anybody follows.
    var isHeard: Bool { state.withLock { $0.streams > 0 } }

    var streams: Int { state.withLock { $0.streams } }

    /// - Returns: `nil` where too many follow already.
    func join() -> Seat? {
        let present = state.withLock { state -> (Int, Int64)? in
            guard state.streams < mostStreams else { return nil }
            state.streams += 1
            return (state.next, state.cursor)
        }
        return present.map { Seat(self, place: $0, cursor: $1) }
    }

    /// That somebody follows, until it's let go of: a stream that never begins leaves, too.
    final class Seat: Sendable {
        private let feed: EventFeed
        /// The place of the next frame.
        let place: Int
        /// The end that was told last.
        let cursor: Int64

        fileprivate init(_ feed: EventFeed, place: Int, cursor: Int64) {
            self.feed = feed
            self.place = place
            self.cursor = cursor
        }

        deinit { feed.state.withLock { $0.streams -= 1 } }
    }

    /// The place of the next frame, and the end that was told last, for a stream that goes on from the database.
    var present: (place: Int, cursor: Int64) { state.withLock { ($0.next, $0.cursor) } }

    /// Waits for frames.
    func portion(from place: Int) async -> Portion {
        while true {
            let portion = state.withLock { state -> Portion? in
                if state.isOver { return .over }
                guard place >= state.first else { return .behind }
                guard place < state.next else { return nil }
                return .frames(Array(state.frames[(place - state.first)...]), next: state.next)
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
