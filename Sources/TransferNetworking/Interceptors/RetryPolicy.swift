public import Foundation
import FoundationNetworking
import TransferCore

/// Retries idempotent requests that failed for reasons that pass, with an exponential backoff.
///
/// The delay is `exponentialBackoffBase` to the power of the retries made, times `exponentialBackoffScale` seconds.
open class RetryPolicy: @unchecked Sendable, RequestInterceptor {  // Every property of it is constant.
    public static let defaultRetryLimit: UInt = 2
    public static let defaultExponentialBackoffBase: UInt = 2
    /// Seconds.
    public static let defaultExponentialBackoffScale: Double = 0.5
    /// RFC 9110 §9.2.2.
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
        .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
        .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid, .timedOut,
    ]

    public let retryLimit: UInt
    public let exponentialBackoffBase: UInt
    public let exponentialBackoffScale: Double
    public let retryableHTTPMethods: Set<HTTPMethod>
    public let retryableHTTPStatusCodes: Set<Int>
    public let retryableURLErrorCodes: Set<URLError.Code>
    private let rule: RetryRule

    /// - Parameters:
    ///   - retryLimit: Attempts after the first.
    ///   - exponentialBackoffBase: At least 2.
    ///   - exponentialBackoffScale: Seconds.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        precondition(exponentialBackoffBase >= 2, "the base of the exponential backoff must be 2 or more")
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = exponentialBackoffBase
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
        rule = RetryRule(
            limit: Int(clamping: retryLimit), base: Int(clamping: exponentialBackoffBase),
            scale: exponentialBackoffScale, maxDelay: nil, jitter: false, honoursRetryAfter: false,
            methods: Set(retryableHTTPMethods.map(\.rawValue)), statusCodes: retryableHTTPStatusCodes)
    }

    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard self.shouldRetry(request: request, dueTo: error) else { return completion(.doNotRetry) }
        let delay = rule.delay(retriesSpent: request.retryCount, retryAfter: nil, random: 0)
        completion(.retryWithDelay(delay.inSeconds))
    }

    /// Whether this failure of this request is one that the policy retries, and the limit isn't reached.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard request.retryCount < rule.limit, let method = request.request?.method,
            retryableHTTPMethods.contains(method)
        else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        let underlying = error.asAFError?.underlyingError ?? error
        return (underlying as? URLError).map { retryableURLErrorCodes.contains($0.code) } ?? false
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// A `RetryPolicy` with the documented defaults.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }
}
