/// The measurements of one hop; durations are in seconds from the start of the hop (curl_easy_getinfo(3)).
public struct HopMetrics: Sendable, Hashable {
    /// The URL of the hop.
    public let url: String
    /// The method of the hop.
    public let method: String
    /// The status of the answer; `nil` without one.
    public var status: Int?
    /// The start in wall-clock seconds since 1970.
    public let start: Double
    /// libcurl's number of the HTTP version (CURLINFO_HTTP_VERSION(3)).
    public var httpVersion = 0
    /// Whether the hop used an existing connection.
    public var isReused = false
    /// Whether the hop went through a proxy.
    public var isProxied = false
    /// The durations of the phases.
    public var times = Times()
    /// The ends of the connection.
    public var ends = Ends()
    /// The bytes that went over the network.
    public var bytes = Bytes()

    package init(url: String, method: String, start: Double) {
        self.url = url
        self.method = method
        self.start = start
    }
}

extension HopMetrics {
    /// The durations of a hop's phases, in seconds from the start of the hop.
    public struct Times: Sendable, Hashable {
        /// The time until the name was looked up, with the time of our own resolver.
        public var nameLookup = 0.0
        /// The time until the connection was made.
        public var connect = 0.0
        /// The time until the TLS handshake was done; 0 without TLS, and on an existing connection.
        public var tls = 0.0
        /// The time until the request began to leave.
        public var requestStart = 0.0
        /// The time until the first byte of the answer came.
        public var firstByte = 0.0
        /// The time until the hop ended.
        public var total = 0.0

        /// Creates durations of 0.
        public init() {}
    }

    /// The two ends of a hop's connection.
    public struct Ends: Sendable, Hashable {
        /// The local address.
        public var localAddress: String?
        /// The local port.
        public var localPort = 0
        /// The remote address: the server's, or the proxy's.
        public var remoteAddress: String?
        /// The remote port.
        public var remotePort = 0

        /// Creates unknown ends.
        public init() {}
    }

    /// The bytes that went over the network.
    public struct Bytes: Sendable, Hashable {
        /// The bytes of the request's head.
        public var requestHeader: Int64 = 0
        /// The bytes of the request's body.
        public var requestBody: Int64 = 0
        /// The bytes of the response's head.
        public var responseHeader: Int64 = 0
        /// The bytes of the response's body, as they came over the network.
        public var responseBody: Int64 = 0

        /// Creates counts of 0.
        public init() {}
    }
}

extension HopMetrics {
    /// The time until the name was looked up (``Times/nameLookup``).
    public var nameLookup: Double {
        get { times.nameLookup }
        set { times.nameLookup = newValue }
    }

    /// The time until the connection was made (``Times/connect``).
    public var connect: Double {
        get { times.connect }
        set { times.connect = newValue }
    }

    /// The time until the TLS handshake was done (``Times/tls``).
    public var tls: Double {
        get { times.tls }
        set { times.tls = newValue }
    }

    /// The time until the request began to leave (``Times/requestStart``).
    public var requestStart: Double {
        get { times.requestStart }
        set { times.requestStart = newValue }
    }

    /// The time until the first byte came (``Times/firstByte``).
    public var firstByte: Double {
        get { times.firstByte }
        set { times.firstByte = newValue }
    }

    /// The time until the hop ended (``Times/total``).
    public var total: Double {
        get { times.total }
        set { times.total = newValue }
    }

    /// The local address (``Ends/localAddress``).
    public var localAddress: String? {
        get { ends.localAddress }
        set { ends.localAddress = newValue }
    }

    /// The local port (``Ends/localPort``).
    public var localPort: Int {
        get { ends.localPort }
        set { ends.localPort = newValue }
    }

    /// The remote address (``Ends/remoteAddress``).
    public var remoteAddress: String? {
        get { ends.remoteAddress }
        set { ends.remoteAddress = newValue }
    }

    /// The remote port (``Ends/remotePort``).
    public var remotePort: Int {
        get { ends.remotePort }
        set { ends.remotePort = newValue }
    }

    /// The bytes of the request's head (``Bytes/requestHeader``).
    public var requestHeaderBytes: Int64 {
        get { bytes.requestHeader }
        set { bytes.requestHeader = newValue }
    }

    /// The bytes of the request's body (``Bytes/requestBody``).
    public var requestBodyBytes: Int64 {
        get { bytes.requestBody }
        set { bytes.requestBody = newValue }
    }

    /// The bytes of the response's head (``Bytes/responseHeader``).
    public var responseHeaderBytes: Int64 {
        get { bytes.responseHeader }
        set { bytes.responseHeader = newValue }
    }

    /// The bytes of the response's body (``Bytes/responseBody``).
    public var responseBodyBytes: Int64 {
        get { bytes.responseBody }
        set { bytes.responseBody = newValue }
    }
}
