import OpenCombine
import Synchronization
import TransferNetworking

/// A subscriber on its way between threads.
///
/// `@unchecked Sendable`: OpenCombine's protocols don't say that subscribers may be called from any thread, and mean it,
/// as long as it's one at a time; the lock of the subscription sees to that.
struct Downstream<Input>: @unchecked Sendable {
    let receive: (Input) -> Subscribers.Demand
    let finish: () -> Void

    init<Wrapped: Subscriber>(_ subscriber: Wrapped) where Wrapped.Input == Input, Wrapped.Failure == Never {
        receive = { subscriber.receive($0) }
        finish = { subscriber.receive(completion: .finished) }
    }
}

/// One subscriber's wait for one response.
final class ResponseSubscription<Response: Sendable>: Subscription, Sendable {
    /// `waiting` → `asked` → `publishing` → `over`, and from each of them by a cancellation.
    private enum State {
        case waiting(Downstream<Response>)
        case asked(Downstream<Response>)
        case publishing
        case over
    }

    private let state: Mutex<State>
    private let request: Request
    private let handle: @Sendable (@escaping @Sendable (Response) -> Void) -> Void

    init(
        _ downstream: Downstream<Response>, of request: Request,
        _ handle: @escaping @Sendable (@escaping @Sendable (Response) -> Void) -> Void
    ) {
        state = Mutex(.waiting(downstream))
        self.request = request
        self.handle = handle
    }

    func request(_ demand: Subscribers.Demand) {
        let isFirst = state.withLock { state in
            guard demand > 0, case .waiting(let downstream) = state else { return false }
            state = .asked(downstream)
            return true
        }
        guard isFirst else { return }
        handle { [self] response in publish(response) }
        // Where sessions don't start requests by themselves, the demand does.
        request.resume()
    }

    func cancel() {
        let wasPublished = state.withLock { state in
            defer { state = .over }
            switch state {
            case .waiting, .asked: return false
            case .publishing, .over: return true
            }
        }
        if !wasPublished { request.cancel() }
    }

    private func publish(_ response: Response) {
        let downstream = state.withLock { state -> Downstream<Response>? in
            guard case .asked(let downstream) = state else { return nil }
            state = .publishing
            return downstream
        }
        guard let downstream else { return }
        _ = downstream.receive(response)
        // A subscriber may cancel when it has what it wanted: then it's told no more, and may be gone.
        let isWanted = state.withLock { state in
            guard case .publishing = state else { return false }
            state = .over
            return true
        }
        if isWanted { downstream.finish() }
    }
}
