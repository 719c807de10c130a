public import Dispatch
public import Foundation
import FoundationNetworking
public import TransferReachability

/// An interceptor that retries requests that failed without a network, as soon as this machine has one.
///
/// The kernel reports when there is a network. If none appears within the wait, the failure stands.
public final class OfflineRetrier: RequestInterceptor {
    /// The default wait: 5 seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// The default codes: `notConnectedToInternet` alone.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// The default test: whether an error, or the one that an `AFError` carries, is a `URLError` with one of those
    /// codes.
    @preconcurrency
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
        let cause = error.asAFError?.underlyingError ?? error
        return (cause as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
    }

    private let monitor: @Sendable () -> NWPathMonitor
    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (any Error) -> Bool
    private let queue = DispatchQueue(label: "transferkit.offline-retrier")

    /// Creates a retrier.
    ///
    /// - Parameters:
    ///   - monitor: The monitor of the network; a new one is created for each failure.
    ///   - maximumWait: The longest wait for a route to the network, counted from each failure.
    ///   - isOfflineError: Whether a failure means that there is no network.
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

    /// Creates a retrier that waits for a route over interfaces of one kind.
    ///
    /// - Parameters:
    ///   - requiredInterfaceType: The kind of interface that counts.
    ///   - maximumWait: The longest wait for a route to the network, counted from each failure.
    ///   - isOfflineError: Whether a failure means that there is no network.
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

    /// Creates a retrier that waits for a route over interfaces of other kinds than the given ones.
    ///
    /// - Parameters:
    ///   - prohibitedInterfaceTypes: The kinds of interfaces that do not count.
    ///   - maximumWait: The longest wait for a route to the network, counted from each failure.
    ///   - isOfflineError: Whether a failure means that there is no network.
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

    /// Retries the request once there is a network. Other failures, and waits that are too long, are left to the next
    /// retrier.
    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        let monitor = monitor()
        // There is a route although the request failed: the kernel may know it a moment earlier. Such retries are
        // limited to three.
        guard monitor.currentPath.status != .satisfied else {
            return completion(request.retryCount < 3 ? .retryWithDelay(0.5) : .doNotRetry)
        }
        PathWait.begin(monitor, within: maximumWait.seconds, on: queue) { isReachable in
            completion(isReachable ? .retry : .doNotRetry)
        }
    }
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// A retrier that waits up to 5 seconds for a network.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// Returns a retrier that waits for a network; the parameters are those of the initialiser.
    @preconcurrency
    public static func offlineRetrier(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor(), maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a route over interfaces of one kind; the parameters are those of the
    /// initialiser.
    @preconcurrency
    public static func offlineRetrier(
        requiredInterfaceType: NWInterface.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a route over interfaces of other kinds; the parameters are those of the
    /// initialiser.
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
