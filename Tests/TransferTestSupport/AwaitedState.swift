internal import Synchronization

/// A state that other threads change, and that tests wait for.
public final class AwaitedState<State: Sendable>: Sendable {
    private struct Waiter {
        let number: Int
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Guarded {
        var state: State
        var waiters: [Waiter] = []
        var last = 0
    }

    private let guarded: Mutex<Guarded>

    public init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    public var state: State { guarded.withLock { $0.state } }

    @discardableResult
    public func change<Value>(_ change: (inout State) -> Value) -> Value {
        let (value, ready) = guarded.withLock { guarded in
            let value = change(&guarded.state)
            let first = guarded.waiters.partition { $0.condition(guarded.state) }
            let ready = guarded.waiters[first...].map(\.continuation)
            guarded.waiters.removeSubrange(first...)
            return (value, ready)
        }
        for continuation in ready { continuation.resume() }
        return value
    }

    /// Returns once the condition holds, or once the task is cancelled, for example by the time limit of a suite.
    public func wait(until condition: @escaping @Sendable (State) -> Bool) async {
        let number = guarded.withLock { guarded in
            guarded.last += 1
            return guarded.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = guarded.withLock { guarded in
                    if Task.isCancelled || condition(guarded.state) { return true }
                    guarded.waiters.append(
                        Waiter(number: number, condition: condition, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded in
                guarded.waiters.firstIndex { $0.number == number }.map { guarded.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
