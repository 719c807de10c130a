/// Measurements of one hop; durations in seconds from the start of the hop (curl_easy_getinfo(3)).
public struct HopMetrics: Sendable, Hashable {
    public let url: String
    public let method: String
    /// `nil` without an answer.
    public var status: Int?
    /// Wall-clock seconds since 1970.
    public let start: Double
    /// libcurl's number (CURLINFO_HTTP_VERSION(3)).
    public var httpVersion = 0
    public var isReused = false
    public var isProxied = false
    public var times = Times()
    public var ends = Ends()
    public var bytes = Bytes()

    package init(url: String, method: String, start: Double) {
        self.url = url
        self.method = method
        self.start = start
    }
}

extension HopMetrics {
    /// The durations of its phases, in seconds from the start of the hop.
    public struct Times: Sendable, Hashable {
        /// The time of our own resolver is in it.
        public var nameLookup = 0.0
        public var connect = 0.0
        /// 0 without TLS, and on a connection that was there.
        public var tls = 0.0
        /// The moment at which the request began to leave.
        public var requestStart = 0.0
        public var firstByte = 0.0
        public var total = 0.0

        public init() {}
    }

    /// The two ends of its connection.
    public struct Ends: Sendable, Hashable {
        public var localAddress: String?
        public var localPort = 0
        public var remoteAddress: String?
        public var remotePort = 0

        public init() {}
    }

    /// The bytes that went over the network.
    public struct Bytes: Sendable, Hashable {
        public var requestHeader: Int64 = 0
        public var requestBody: Int64 = 0
        public var responseHeader: Int64 = 0
        /// As they came over the network.
        public var responseBody: Int64 = 0

        public init() {}
    }
}

extension HopMetrics {
    /// ``Times/nameLookup``.
    public var nameLookup: Double {
        get { times.nameLookup }
        set { times.nameLookup = newValue }
    }

    /// ``Times/connect``.
    public var connect: Double {
        get { times.connect }
        set { times.connect = newValue }
    }

    /// ``Times/tls``.
    public var tls: Double {
        get { times.tls }
        set { times.tls = newValue }
    }

    /// ``Times/requestStart``.
    public var requestStart: Double {
        get { times.requestStart }
        set { times.requestStart = newValue }
    }

    /// ``Times/firstByte``.
    public var firstByte: Double {
        get { times.firstByte }
        set { times.firstByte = newValue }
    }

    /// ``Times/total``.
    public var total: Double {
        get { times.total }
        set { times.total = newValue }
    }

    /// ``Ends/localAddress``.
    public var localAddress: String? {
        get { ends.localAddress }
        set { ends.localAddress = newValue }
    }

    /// ``Ends/localPort``.
    public var localPort: Int {
        get { ends.localPort }
        set { ends.localPort = newValue }
    }

    /// ``Ends/remoteAddress``.
    public var remoteAddress: String? {
        get { ends.remoteAddress }
        set { ends.remoteAddress = newValue }
    }

    /// ``Ends/remotePort``.
    public var remotePort: Int {
        get { ends.remotePort }
        set { ends.remotePort = newValue }
    }

    /// ``Bytes/requestHeader``.
    public var requestHeaderBytes: Int64 {
        get { bytes.requestHeader }
        set { bytes.requestHeader = newValue }
    }

    /// ``Bytes/requestBody``.
    public var requestBodyBytes: Int64 {
        get { bytes.requestBody }
        set { bytes.requestBody = newValue }
    }

    /// ``Bytes/responseHeader``.
    public var responseHeaderBytes: Int64 {
        get { bytes.responseHeader }
        set { bytes.responseHeader = newValue }
    }

    /// ``Bytes/responseBody``.
    public var responseBodyBytes: Int64 {
        get { bytes.responseBody }
        set { bytes.responseBody = newValue }
    }
}
