import DequeModule
import Synchronization

/// The values of a request as they arrive, for one `for await` loop.
///
/// Leaving the loop early, or cancelling its task, ends the stream.
@preconcurrency
public struct StreamOf<Element: Sendable>: AsyncSequence, Sendable {
    /// The failure of the sequence: it never fails.
    public typealias Failure = Never
    /// The policy for values that no loop has awaited yet.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

    /// The owner of a stream's buffer; its release ends a stream that was never iterated.
    private final class Lifetime: Sendable {
        let buffer: StreamBuffer<Element>
        /// The action of the first iteration, which is released then with all that it keeps.
        private let onIteration: Mutex<(@Sendable () -> Void)?>
        let isIterated = Atomic(false)

        init(buffer: StreamBuffer<Element>, onIteration: (@Sendable () -> Void)?) {
            self.buffer = buffer
            self.onIteration = Mutex(onIteration)
        }

        func begin() {
            guard !isIterated.exchange(true, ordering: .relaxed) else { return }
            let action = onIteration.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
        }

        deinit { if !isIterated.load(ordering: .relaxed) { buffer.terminate() } }
    }

    private let lifetime: Lifetime
    var buffer: StreamBuffer<Element> { lifetime.buffer }

    init(
        bufferingPolicy: BufferingPolicy = .unbounded, onIteration: (@Sendable () -> Void)? = nil,
        onTermination: (@Sendable () -> Void)? = nil, builder: (StreamBuffer<Element>) -> Void
    ) {
        let buffer = StreamBuffer<Element>(policy: bufferingPolicy, onTermination: onTermination)
        lifetime = Lifetime(buffer: buffer, onIteration: onIteration)
        builder(lifetime.buffer)
    }

    /// Returns an iterator. The first call starts the request, unless requests have to be started explicitly.
    public func makeAsyncIterator() -> Iterator {
        lifetime.begin()
        return Iterator(owner: Iterator.Owner(buffer: lifetime.buffer))
    }

    /// The iterator of the sequence.
    public typealias AsyncIterator = Iterator

    /// An iterator over the values; releasing it ends the stream.
    public struct Iterator: AsyncIteratorProtocol {
        /// The owner of the iteration; its release means that the loop was left.
        final class Owner: Sendable {
            let buffer: StreamBuffer<Element>
            init(buffer: StreamBuffer<Element>) { self.buffer = buffer }
            deinit { buffer.terminate() }
        }

        let owner: Owner

        /// Returns the next value as soon as there is one; `nil` at the end of the stream.
        public mutating func next() async -> Element? { await owner.buffer.next() }
    }
}

/// The buffer of a stream for values that no loop has taken yet.
final class StreamBuffer<Element: Sendable>: Sendable {
    /// A value, and the token that is held until the value is taken.
    private struct Item {
        let element: Element
        let token: FlowToken?
    }

    private struct State {
        var items: Deque<Item> = []
        var waiting: [CheckedContinuation<Element?, Never>] = []
        var isFinished = false
        var onTermination: (@Sendable () -> Void)?
    }

    private let policy: StreamOf<Element>.BufferingPolicy
    private let state: Mutex<State>

    init(policy: StreamOf<Element>.BufferingPolicy, onTermination: (@Sendable () -> Void)?) {
        self.policy = policy
        state = Mutex(State(onTermination: onTermination))
    }

    /// - Parameter token: The token to release when the value is taken or dropped.
    func yield(_ element: Element, token: FlowToken? = nil) {
        let (waiting, dropped) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, Item?) in
            guard !state.isFinished else { return (nil, nil) }
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), nil) }
            state.items.append(Item(element: element, token: token))
            switch policy {
            case .bufferingOldest(let limit) where state.items.count > limit: return (nil, state.items.removeLast())
            case .bufferingNewest(let limit) where state.items.count > limit: return (nil, state.items.removeFirst())
            default: return (nil, nil)
            }
        }
        waiting?.resume(returning: element)
        // The release of a token may call other code, hence outside the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Ends the stream; values in the buffer can still be taken.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            state.onTermination = nil
            return state.waiting.take()
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }

    /// Ends the stream from the side of the loop, which takes no more values.
    func terminate() {
        let (waiting, items, action) = state.withLock { state in
            let items = state.items
            state.items = []
            state.isFinished = true
            let action = state.onTermination
            state.onTermination = nil
            return (state.waiting.take(), items, action)
        }
        for continuation in waiting { continuation.resume(returning: nil) }
        withExtendedLifetime(items) {}
        action?()
    }

    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> (element: Element?, token: FlowToken?)? in
                    if let item = state.items.popFirst() { return (item.element, item.token) }
                    if state.isFinished { return (nil, nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let now { continuation.resume(returning: now.element) }
            }
        } onCancel: {
            terminate()
        }
    }
}
