import FoundationNetworking
import Synchronization

/// The interceptors of a request and its session. Each one adapts the result of the previous one. The first retrier
/// that wants a retry, or forbids it, decides.
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

/// A call of one of an adapter's two forms.
typealias AdaptTurn = @Sendable (any RequestAdapter, URLRequest, @escaping AdaptCompletion) -> Void

extension [any RequestAdapter] {
    /// Calls the adapters in their order with the previous result; the first failure is the result.
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
    /// Asks the retriers in their order. The first answer other than `doNotRetry` decides, and later retriers are not
    /// asked.
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

/// A flag that accepts only the first answer of an interceptor. After a second answer the next interceptors would run
/// twice, and may sign, count or refresh something twice.
private final class FirstAnswer: Sendable {
    private let isTaken = Atomic(false)

    func isFirst() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
