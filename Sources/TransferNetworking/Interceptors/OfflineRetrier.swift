public import Dispatch
public import Foundation
import FoundationNetworking
public import TransferReachability

/// Retries requests that failed because this machine had no network, as soon as it has one.
///
/// The kernel tells when that is. Where none comes in time, the failure stands.
public final class OfflineRetrier: RequestInterceptor {
    /// 5 seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// `notConnectedToInternet` alone.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// Whether an error, or the one that an `AFError` carries, is a `URLError` with one of those codes.
    @preconcurrency
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
        let cause = error.asAFError?.underlyingError ?? error
        return (cause as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
    }

    private let monitor: @Sendable () -> NWPathMonitor
    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (any Error) -> Bool
    private let queue = DispatchQueue(label: "transferkit.offline-retrier")

    /// - Parameters:
    ///   - monitor: Made anew for each failure that is waited for.
    ///   - maximumWait: For a way to the network, from each failure on.
    ///   - isOfflineError: Whether a failure is the lack of a network.
    @preconcurrency
    public init(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.monitor = monitor
        self.maximumWait = maximumWait
        self.isOfflineError = isOfflineError
    }

    /// Waits for a way over interfaces of one kind.
    ///
    /// - Parameters:
    ///   - requiredInterfaceType: The kind that counts.
    ///   - maximumWait: For a way to the network, from each failure on.
    ///   - isOfflineError: Whether a failure is the lack of a network.
    @preconcurrency
    public convenience init(
        requiredInterfaceType: NWInterface.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.init(
            monitor: NWPathMonitor(requiredInterfaceType: requiredInterfaceType), maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }

    /// Waits for a way over interfaces of other kinds than these.
    ///
    /// - Parameters:
    ///   - prohibitedInterfaceTypes: The kinds that don't count.
    ///   - maximumWait: For a way to the network, from each failure on.
    ///   - isOfflineError: Whether a failure is the lack of a network.
    @preconcurrency
    public convenience init(
        prohibitedInterfaceTypes: [NWInterface.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.init(
            monitor: NWPathMonitor(prohibitedInterfaceTypes: prohibitedInterfaceTypes), maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }

    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        let monitor = monitor()
        // There is a way, and the request failed: the kernel may be ahead of the program by a moment. Not for ever.
        guard monitor.currentPath.status != .satisfied else {
            return completion(request.retryCount < 3 ? .retryWithDelay(0.5) : .doNotRetry)
        }
        PathWait.begin(monitor, within: maximumWait.seconds, on: queue) { isReachable in
            completion(isReachable ? .retry : .doNotRetry)
        }
    }
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// Retries when there is a network again, within 5 seconds.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// Retries when there is a network again; the parameters are those of the initialiser.
    @preconcurrency
    public static func offlineRetrier(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor(), maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Retries when there is a way over interfaces of one kind; the parameters are those of the initialiser.
    @preconcurrency
    public static func offlineRetrier(
        requiredInterfaceType: NWInterface.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Retries when there is a way over interfaces of other kinds; the parameters are those of the initialiser.
    @preconcurrency
    public static func offlineRetrier(
        prohibitedInterfaceTypes: [NWInterface.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            prohibitedInterfaceTypes: prohibitedInterfaceTypes, maximumWait: maximumWait,
            isOfflineError: isOfflineError)
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
