import FoundationNetworking
import Synchronization

/// The interceptors of a request and its session, one after the other: each adapts what the one before made, and the
/// first retrier that wants a retry, or forbids it, decides.
struct InterceptorChain: Sendable {
    let interceptors: [any RequestInterceptor]

    func adapt(_ request: URLRequest, using state: RequestAdapterState, completion: @escaping AdaptCompletion) {
        let turn: AdaptTurn = { adapter, request, next in adapter.adapt(request, using: state, completion: next) }
        (interceptors as [any RequestAdapter]).adaptInTurn(request, turn, completion)
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error, completion: @escaping RetryCompletion
    ) {
        (interceptors as [any RequestRetrier]).decideInTurn(request, session, error, completion)
    }
}

/// Calls one of an adapter's two forms.
typealias AdaptTurn = @Sendable (any RequestAdapter, URLRequest, @escaping AdaptCompletion) -> Void

extension [any RequestAdapter] {
    /// Each adapts what the one before made; the first failure is the result.
    func adaptInTurn(
        _ request: URLRequest, from index: Int = 0, _ turn: @escaping AdaptTurn, _ completion: @escaping AdaptCompletion
    ) {
        guard index < count else { return completion(.success(request)) }
        let answer = FirstAnswer()
        turn(self[index], request) { result in
            guard answer.isFirst() else { return }
            switch result {
            case .success(let adapted): self.adaptInTurn(adapted, from: index + 1, turn, completion)
            case .failure: completion(result)
            }
        }
    }
}

extension [any RequestRetrier] {
    /// The first that says anything but `doNotRetry` decides, and the ones behind it are not asked.
    func decideInTurn(
        _ request: Request, from index: Int = 0, _ session: Session, _ error: any Error,
        _ completion: @escaping RetryCompletion
    ) {
        guard index < count else { return completion(.doNotRetry) }
        let answer = FirstAnswer()
        self[index].retry(request, for: session, dueTo: error) { result in
            guard answer.isFirst() else { return }
            switch result {
            case .doNotRetry: self.decideInTurn(request, from: index + 1, session, error, completion)
            case .retry, .retryWithDelay, .doNotRetryWithError: completion(result)
            }
        }
    }
}

/// Tells the first answer from others: an interceptor that answers twice must not have the ones behind it called twice,
/// as each of those may sign, count or refresh something.
private final class FirstAnswer: Sendable {
    private let isTaken = Atomic(false)

    func isFirst() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
