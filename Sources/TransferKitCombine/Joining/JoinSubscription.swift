import Foundation
import OpenCombine

/// The subscription of one subscriber to several publishers, around the pure ``JoinState``.
///
/// Publishers may be on different threads. Their events are noted under the lock. The first thread performs the
/// resulting actions outside the lock, one after the other.
final class JoinSubscription<Input, Output, Failure: Error>: Subscription {
    private let lock = NSLock()
    private var state: JoinState<Input>
    private var subscriptions: [Int: any Subscription] = [:]
    private var failure: Failure?
    private var isAtIt = false
    private var downstream: AnySubscriber<Output, Failure>?
    private let make: (Input) -> Output?

    /// - Parameter make: The closure that makes the subscriber's value of an input; called by one thread at a time.
    init(
        _ way: JoinState<Input>.Way, count: Int, _ downstream: AnySubscriber<Output, Failure>,
        make: @escaping (Input) -> Output?
    ) {
        state = JoinState(way, count: count)
        self.downstream = downstream
        self.make = make
    }

    /// Ends the subscription at once if there are no publishers.
    func begin() { note { _ in } }

    func request(_ demand: Subscribers.Demand) { note { $0.state.request(demand) } }

    func cancel() {
        let all = lock.withLock { over() }
        for subscription in all { subscription.cancel() }
    }

    // MARK: Publishers

    func subscribe<Upstream: Publisher>(
        _ upstream: Upstream, _ index: Int, _ input: @escaping (Upstream.Output) -> Input
    )
    where Upstream.Failure == Failure {
        guard lock.withLock({ !state.isOver }) else { return }
        upstream.subscribe(
            AnySubscriber(
                receiveSubscription: { [self] in received($0, index) },
                receiveValue: { [self] value in
                    note { $0.state.receive(input(value), from: index) }
                    return .none
                },
                receiveCompletion: { [self] completion in
                    note { joined in
                        if case .failure(let failure) = completion {
                            joined.failure = joined.failure ?? failure
                        } else {
                            joined.state.finished(index)
                        }
                    }
                }))
    }

    private func received(_ subscription: any Subscription, _ index: Int) {
        let isLate = lock.withLock {
            if !state.isOver { subscriptions[index] = subscription }
            return state.isOver
        }
        if isLate { return subscription.cancel() }
        note { $0.state.subscribed(index) }
    }

    // MARK: Actions

    private func note(_ change: (JoinSubscription) -> Void) {
        let isFirst = lock.withLock {
            change(self)
            defer { isAtIt = true }
            return !isAtIt
        }
        guard isFirst else { return }
        while let act = lock.withLock({ nextAct() }) { act() }
    }

    /// Returns the next action. Called under the lock.
    private func nextAct() -> (() -> Void)? {
        if let failure, !state.isOver {
            let downstream = downstream
            let others = over()
            return {
                for subscription in others { subscription.cancel() }
                downstream?.receive(completion: .failure(failure))
            }
        }
        switch state.next() {
        case nil:
            isAtIt = false
            return nil
        case .ask(let index, let demand):
            let subscription = subscriptions[index]
            return { subscription?.request(demand) }
        case .deliver(let input, let index):
            let (downstream, output) = (downstream, make(input))
            return { [self] in
                guard let downstream, let output else { return }
                let more = downstream.receive(output)
                lock.withLock { state.delivered(from: index, more) }
            }
        case .finish:
            let downstream = downstream
            _ = over()
            return { downstream?.receive(completion: .finished) }
        }
    }

    /// Ends the subscription, so that nothing is delivered afterwards. Called under the lock.
    private func over() -> [any Subscription] {
        state.end()
        downstream = nil
        defer { subscriptions = [:] }
        return Array(subscriptions.values)
    }
}
