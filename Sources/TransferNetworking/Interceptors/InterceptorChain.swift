import Foundation
import FoundationNetworking

/// The interceptors of a request and its session, one after the other: each adapts what the one before made, and the
/// first retrier that wants a retry, or forbids it, decides.
struct InterceptorChain: Sendable {
    let interceptors: [any RequestInterceptor]

    func adapt(
        _ request: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard let first = interceptors.first else { return completion(.success(request)) }
        let rest = InterceptorChain(interceptors: Array(interceptors.dropFirst()))
        first.adapt(request, for: session) { result in
            switch result {
            case .success(let adapted): rest.adapt(adapted, for: session, completion: completion)
            case .failure: completion(result)
            }
        }
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let first = interceptors.first else { return completion(.doNotRetry) }
        let rest = InterceptorChain(interceptors: Array(interceptors.dropFirst()))
        first.retry(request, for: session, dueTo: error) { result in
            switch result {
            case .doNotRetry: rest.retry(request, for: session, dueTo: error, completion: completion)
            case .retry, .retryWithDelay, .doNotRetryWithError: completion(result)
            }
        }
    }
}
