public import Dispatch
public import Foundation
import FoundationNetworking

/// Retries requests that failed because this machine had no network, as soon as it has one.
///
/// The kernel tells when that is. Where none comes in time, the failure stands.
public final class OfflineRetrier: RequestInterceptor {
    /// 5 seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// `notConnectedToInternet` alone.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// Whether an error, or the one that an `AFError` carries, is a `URLError` with one of those codes.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
        let cause = error.asAFError?.underlyingError ?? error
        return (cause as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
    }

    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (any Error) -> Bool
    private let connectivity = ConnectivityWatch()
    private let queue = DispatchQueue(label: "transferkit.offline-retrier")

    /// - Parameters:
    ///   - maximumWait: For a way to the network, from each failure on.
    ///   - isOfflineError: Whether a failure is the lack of a network.
    public init(
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.maximumWait = maximumWait
        self.isOfflineError = isOfflineError
    }

    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        // There is a way, and the request failed: the kernel may be ahead of the program by a moment. Not for ever.
        guard ConnectivityWatch.isOffline else {
            return completion(request.retryCount < 3 ? .retryWithDelay(0.5) : .doNotRetry)
        }
        connectivity.whenReachable(within: maximumWait.seconds, on: queue) { isReachable in
            completion(isReachable ? .retry : .doNotRetry)
        }
    }
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// Retries when there is a network again, within 5 seconds.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// Retries when there is a network again, within `maximumWait`.
    public static func offlineRetrier(maximumWait: DispatchTimeInterval) -> OfflineRetrier {
        OfflineRetrier(maximumWait: maximumWait)
    }
}

extension DispatchTimeInterval {
    fileprivate var seconds: TimeInterval {
        switch self {
        case .seconds(let count): Double(count)
        case .milliseconds(let count): Double(count) / 1e3
        case .microseconds(let count): Double(count) / 1e6
        case .nanoseconds(let count): Double(count) / 1e9
        default: 1e8
        }
    }
}
