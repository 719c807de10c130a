public import Foundation
import FoundationNetworking
import TransferCore

/// A policy that retries idempotent requests after transient failures, with an exponential backoff.
///
/// The delay is `exponentialBackoffBase` to the power of the retries made, times `exponentialBackoffScale` seconds. A
/// status counts only if it makes the request fail, as `validate()` does.
open class RetryPolicy: @unchecked Sendable, RequestInterceptor {  // Every property of it is constant.
    /// The default number of attempts after the first: 2.
    public static let defaultRetryLimit: UInt = 2
    /// The default base of the delays' growth: 2.
    public static let defaultExponentialBackoffBase: UInt = 2
    /// The default factor of the delays: 0.5 seconds.
    public static let defaultExponentialBackoffScale: Double = 0.5
    /// The idempotent methods of RFC 9110 §9.2.2.
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]
    /// The default statuses of responses that are retried.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The default codes of errors that are retried.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
        .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
        .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid, .timedOut,
    ]

    /// The number of attempts after the first.
    public let retryLimit: UInt
    /// The base of the delays' growth, at least 2.
    public let exponentialBackoffBase: UInt
    /// The factor of the delays, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods of requests that may be sent more than once.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The statuses of responses that are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The codes of errors that are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>
    private let rule: RetryRule

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - retryLimit: The number of attempts after the first.
    ///   - exponentialBackoffBase: The base of the delays' growth, at least 2.
    ///   - exponentialBackoffScale: The factor of the delays, in seconds.
    ///   - retryableHTTPMethods: The methods that are retried; requests with others never are.
    ///   - retryableHTTPStatusCodes: The statuses of responses that are retried, whatever the error is.
    ///   - retryableURLErrorCodes: The codes that are retried, of the error itself or of the one that an `AFError`
    ///     carries.
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

    /// Retries the request after a delay, if the limit and ``shouldRetry(request:dueTo:)`` permit it.
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

    /// Whether the policy retries this failure of this request, apart from its limit.
    ///
    /// - Parameter error: An `AFError` or its underlying error.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        let underlying = error.asAFError?.underlyingError ?? error
        return (underlying as? URLError).map { retryableURLErrorCodes.contains($0.code) } ?? false
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// A ``RetryPolicy`` with the default values.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// Returns a ``RetryPolicy``; the parameters are those of its initialiser.
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
