public import Foundation
import FoundationNetworking
import TransferCore

/// Retries idempotent requests that failed for reasons that pass, with an exponential backoff.
///
/// The delay is `exponentialBackoffBase` to the power of the retries made, times `exponentialBackoffScale` seconds.
/// A refused status counts only where it makes the request fail: with `validate()`.
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

    /// Attempts after the first.
    public let retryLimit: UInt
    public let exponentialBackoffBase: UInt
    /// Seconds.
    public let exponentialBackoffScale: Double
    /// Only methods whose requests may be made twice belong here.
    public let retryableHTTPMethods: Set<HTTPMethod>
    public let retryableHTTPStatusCodes: Set<Int>
    public let retryableURLErrorCodes: Set<URLError.Code>
    private let rule: RetryRule

    /// - Parameters:
    ///   - retryLimit: Attempts after the first.
    ///   - exponentialBackoffBase: At least 2.
    ///   - exponentialBackoffScale: Seconds.
    ///   - retryableHTTPMethods: Requests with other methods are never retried.
    ///   - retryableHTTPStatusCodes: Of the answer, whatever the error is.
    ///   - retryableURLErrorCodes: Of the error itself, or of the one underneath an `AFError`.
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

    @preconcurrency
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < rule.limit, shouldRetry(request: request, dueTo: error) else {
            return completion(.doNotRetry)
        }
        completion(.retryWithDelay(rule.backoff(retriesSpent: request.retryCount)))
    }

    /// Whether this failure of this request is one that the policy retries, its limit left aside.
    ///
    /// - Parameter error: An `AFError` or what is underneath one.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        let underlying = error.asAFError?.underlyingError ?? error
        return (underlying as? URLError).map { retryableURLErrorCodes.contains($0.code) } ?? false
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// A `RetryPolicy` with the documented defaults.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// A `RetryPolicy`; the parameters are those of its initialiser.
    public static func retryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes)
    }
}
