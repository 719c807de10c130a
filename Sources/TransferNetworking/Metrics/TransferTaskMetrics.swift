public import Foundation
public import FoundationNetworking

/// Measurements of one task of a request: one transaction for each hop (redirects, new starts).
///
/// The type stands in for Foundation's `URLSessionTaskMetrics`, which can't be made on Linux.
public struct TransferTaskMetrics: Sendable {
    /// In the order of the hops.
    public var transactionMetrics: [TransferTransactionMetrics]
    /// From the task's start to its end.
    public var taskInterval: DateInterval
    public var redirectCount: Int

    public init(transactionMetrics: [TransferTransactionMetrics], taskInterval: DateInterval, redirectCount: Int) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }
}

/// Measurements of one request and its answer.
///
/// Moments are `nil` for what didn't happen: a reused connection has no look-up, no connect and no TLS handshake.
public struct TransferTransactionMetrics: Sendable {
    /// The source that the answer came from.
    public enum ResourceFetchType: Sendable {
        case networkLoad
        /// From the session's cache, perhaps after the server had been asked.
        case localCache
    }

    public var request: URLRequest
    public var response: HTTPURLResponse?
    public var fetchStartDate: Date?
    public var domainLookupStartDate: Date?
    public var domainLookupEndDate: Date?
    public var connectStartDate: Date?
    /// When the connection stood, TLS included.
    public var connectEndDate: Date?
    public var secureConnectionStartDate: Date?
    public var secureConnectionEndDate: Date?
    public var requestStartDate: Date?
    public var requestEndDate: Date?
    /// The first byte of the answer.
    public var responseStartDate: Date?
    public var responseEndDate: Date?
    /// As in ALPN: `http/1.0`, `http/1.1`, `h2`, `h3`.
    public var resourceFetchType = ResourceFetchType.networkLoad
    public var networkProtocolName: String?
    public var isReusedConnection = false
    public var isProxyConnection = false
    public var localAddress: String?
    public var localPort: Int?
    public var remoteAddress: String?
    public var remotePort: Int?
    public var countOfRequestHeaderBytesSent: Int64 = 0
    public var countOfRequestBodyBytesSent: Int64 = 0
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    /// As they came over the network, before decoding.
    public var countOfResponseBodyBytesReceived: Int64 = 0

    public init(request: URLRequest, response: HTTPURLResponse?) {
        self.request = request
        self.response = response
    }
}
