/// What the network did for one hop; durations in seconds from the start of the hop (curl_easy_getinfo(3)).
public struct HopMetrics: Sendable, Hashable {
    public var url: String
    public var method: String
    /// `nil` without an answer.
    public var status: Int?
    /// Wall-clock seconds since 1970.
    public var start: Double
    /// What our own resolver took is in it.
    public var nameLookup = 0.0
    public var connect = 0.0
    /// 0 without TLS, and on a connection that was there.
    public var tls = 0.0
    /// When the request began to leave.
    public var requestStart = 0.0
    public var firstByte = 0.0
    public var total = 0.0
    /// libcurl's number (CURLINFO_HTTP_VERSION(3)).
    public var httpVersion = 0
    public var isReused = false
    public var isProxied = false
    public var localAddress: String?
    public var localPort = 0
    public var remoteAddress: String?
    public var remotePort = 0
    public var requestHeaderBytes: Int64 = 0
    public var requestBodyBytes: Int64 = 0
    public var responseHeaderBytes: Int64 = 0
    /// As they came over the network.
    public var responseBodyBytes: Int64 = 0

    package init(url: String, method: String, start: Double) {
        self.url = url
        self.method = method
        self.start = start
    }
}
