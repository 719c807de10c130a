public import Foundation
public import FoundationNetworking

/// The metrics of one task of a request: one transaction for each hop (redirects and repeated sends).
///
/// The type replaces Foundation's `URLSessionTaskMetrics`, which cannot be created on Linux.
public struct TransferTaskMetrics: Sendable {
    /// The transactions, in the order of the hops.
    public var transactionMetrics: [TransferTransactionMetrics]
    /// The interval from the task's start to its end.
    public var taskInterval: DateInterval
    /// The number of redirects that were followed.
    public var redirectCount: Int

    /// Creates metrics with these values.
    public init(transactionMetrics: [TransferTransactionMetrics], taskInterval: DateInterval, redirectCount: Int) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }
}

/// The metrics of one request and its response.
///
/// A moment is `nil` if its event did not happen: a reused connection has no look-up, no connect and no TLS handshake.
public struct TransferTransactionMetrics: Sendable {
    /// The source of the response.
    public enum ResourceFetchType: Sendable {
        case networkLoad
        /// The response came from the session's cache, perhaps after the server was asked.
        case localCache
    }

    /// The URL request of this hop.
    public var request: URLRequest
    /// The response of this hop; `nil` if there was none, or for a redirect that was followed.
    public var response: HTTPURLResponse?
    /// The moment at which the hop began.
    public var fetchStartDate: Date?
    /// The start of the name look-up.
    public var domainLookupStartDate: Date?
    /// The end of the name look-up.
    public var domainLookupEndDate: Date?
    /// The start of the connection's establishment.
    public var connectStartDate: Date?
    /// The moment at which the connection was established, TLS included.
    public var connectEndDate: Date?
    /// The start of the TLS handshake; `nil` without TLS.
    public var secureConnectionStartDate: Date?
    /// The end of the TLS handshake; `nil` without TLS.
    public var secureConnectionEndDate: Date?
    /// The moment at which the first byte of the request was sent.
    public var requestStartDate: Date?
    /// The moment at which the request had been sent, or a later one.
    public var requestEndDate: Date?
    /// The arrival of the response's first byte.
    public var responseStartDate: Date?
    /// The arrival of the response's last byte.
    public var responseEndDate: Date?
    /// The source of the response.
    public var resourceFetchType = ResourceFetchType.networkLoad
    /// The protocol's name in ALPN: `http/1.0`, `http/1.1`, `h2` or `h3`; `nil` without a response.
    public var networkProtocolName: String?
    /// Whether an existing connection was used.
    public var isReusedConnection = false
    /// Whether the connection led through a proxy.
    public var isProxyConnection = false
    /// The IP address of this machine's end of the connection.
    public var localAddress: String?
    /// The port of this machine's end of the connection.
    public var localPort: Int?
    /// The IP address of the other end of the connection.
    public var remoteAddress: String?
    /// The port of the other end of the connection.
    public var remotePort: Int?
    /// The size of the sent request's head, in bytes.
    public var countOfRequestHeaderBytesSent: Int64 = 0
    /// The size of the sent request's body, in bytes.
    public var countOfRequestBodyBytesSent: Int64 = 0
    /// The size of the received response's head, in bytes.
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    /// The size of the received response's body before decoding, in bytes.
    public var countOfResponseBodyBytesReceived: Int64 = 0

    /// Creates metrics without moments, addresses and sizes.
    public init(request: URLRequest, response: HTTPURLResponse?) {
        self.request = request
        self.response = response
    }
}
