import OpenCombine
import Synchronization
import TransferNetworking

/// A subscriber that may be called from several threads.
///
/// `@unchecked Sendable`: OpenCombine's protocols permit calls from any thread, one at a time, but do not declare that.
/// The lock of the subscription ensures the order.
struct Downstream<Input>: @unchecked Sendable {
    let receive: (Input) -> Subscribers.Demand
    let finish: () -> Void

    init<Wrapped: Subscriber>(_ subscriber: Wrapped) where Wrapped.Input == Input, Wrapped.Failure == Never {
        receive = { subscriber.receive($0) }
        finish = { subscriber.receive(completion: .finished) }
    }
}

/// The subscription of one subscriber to one response.
final class ResponseSubscription<Response: Sendable>: Subscription, Sendable {
    /// The states: `waiting` → `asked` → `publishing` → `over`; a cancellation ends each of them.
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
        // The demand starts the request, even if its session does not start requests automatically.
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
        // A subscriber may cancel within the call. It must not be called again then, as it may no longer exist.
        let isWanted = state.withLock { state in
            guard case .publishing = state else { return false }
            state = .over
            return true
        }
        if isWanted { downstream.finish() }
    }
}
