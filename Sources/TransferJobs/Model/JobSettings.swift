public import TransferCore

/// The rules of one job; every value that is `nil` has the documented default.
public struct JobSettings: Sendable, Hashable {
    public var headers: [HeaderSetting] = []
    public var retry = RetrySettings()
    /// Time to connect, TLS included; 30 s by default.
    public var connectTimeout: Duration?
    /// The longest silence while waiting for or reading an answer; 60 s by default.
    public var timeout: Duration?
    /// A transfer slower than `rate` bytes a second for `time` counts as stalled; 1 byte a second for 60 s by default.
    public var lowSpeed: LowSpeed?
    /// The longest time one attempt may take; none by default.
    public var maxTime: Duration?
    /// Bytes a second for this job; none by default.
    public var limitRate: Int64?
    public var proxy: Proxy?
    public var tls = TLSSettings()
    public var auth: Auth?
    public var maxRedirects: Int?
    public var network = NetworkPolicy()
    /// For `s3://bucket/key` URLs.
    public var s3: S3Access?
    public var http = HTTPRules()
    private var rare = RareSettings()

    public init() {}

    /// For `sftp` URLs.
    public var ssh: SSHAccess? {
        _read { yield rare.ssh }
        _modify { yield &rare.ssh }
    }
    /// For `ftp` and `ftps` URLs.
    public var ftp: FTPAccess? {
        _read { yield rare.ftp }
        _modify { yield &rare.ftp }
    }

    /// Who is told when the job has ended; no part of what the job is.
    public var onFinish: FinishHook? {
        _read { yield rare.onFinish }
        _modify { yield &rare.onFinish }
    }

    /// The worker that may do it, where several share the queue; no part of what the job is.
    public var worker: WorkerRule {
        _read { yield rare.worker }
        _modify { yield &rare.worker }
    }

    /// The congestion control of the connections that send; ``/TransferCore/CongestionControl/automatic`` by default.
    public var congestion: CongestionControl? {
        _read { yield rare.congestion }
        _modify { yield &rare.congestion }
    }

    /// Whether its connections leave room to whatever else goes over the same link.
    public var isBackground: Bool {
        _read { yield rare.isBackground }
        _modify { yield &rare.isBackground }
    }

    /// The bounds of a job that was submitted from outside this machine; no part of what the job is.
    package var confinement: JobConfinement? {
        _read { yield rare.confinement }
        _modify { yield &rare.confinement }
    }

    private struct RareSettings: Sendable, Hashable {
        var confinement: JobConfinement?
        var ssh: SSHAccess?
        var ftp: FTPAccess?
        var onFinish: FinishHook?
        var worker = WorkerRule()
        var congestion: CongestionControl?
        var isBackground = false
    }

    /// How HTTP is spoken.
    public struct HTTPRules: Sendable, Hashable {
        /// The only version; what the server and this machine agree on otherwise.
        public var version: Version?
        /// Path of a file with cookies in Netscape's form, each for the servers that it names.
        public var cookies: String?

        public init() {}

        public enum Version: String, Sendable, Hashable, CaseIterable {
            /// A connection for each request that is under way.
            case one = "1.1"
        }
    }

    public struct HeaderSetting: Sendable, Hashable {
        public var name: String
        public var value: SecretText
        /// Who said it.
        package var standing = Standing.own

        public init(name: String, value: SecretText) {
            self.name = name
            self.value = value
        }

        package enum Standing: Sendable, Hashable {
            /// The job or its file.
            case own
            /// ``RequestRules``, in place of what the job file's `defaults` say, if anything.
            case laidOver(SecretText?)
        }

        /// What counts for whether the job is another one; `nil` for nothing.
        package var lasting: SecretText? {
            switch standing {
            case .own: value
            case .laidOver(let old): old
            }
        }
    }

    public struct LowSpeed: Sendable, Hashable {
        /// Bytes a second.
        public var rate: Int64
        public var time: Duration
        public init(rate: Int64, time: Duration) {
            self.rate = rate
            self.time = time
        }
    }

    public struct Proxy: Sendable, Hashable {
        /// `http://`, `https://`, `socks5://` or `socks5h://`; empty switches proxies off.
        public var url: String {
            didSet { if !url.isEmpty { isOfEnvironment = false } }
        }
        /// Hosts, domains and CIDR blocks that are reached without it, comma-separated.
        public var noProxy: String?
        public var credentials: Credentials?
        /// Whether it's the one that the environment names; ``url`` is empty then.
        public private(set) var isOfEnvironment = false

        public init(url: String, noProxy: String? = nil, credentials: Credentials? = nil) {
            self.url = url
            self.noProxy = noProxy
            self.credentials = credentials
        }

        /// The proxy that the environment names, but for these hosts, which take the place of the environment's.
        public static func environment(except noProxy: String) -> Proxy {
            var proxy = Proxy(url: "", noProxy: noProxy)
            proxy.isOfEnvironment = true
            return proxy
        }

        /// What the proxy is told when it asks who comes.
        public struct Credentials: Sendable, Hashable {
            public var user: SecretText
            public var password: SecretText
            public init(user: SecretText, password: SecretText) {
                self.user = user
                self.password = password
            }
        }
    }

    public struct TLSSettings: Sendable, Hashable {
        /// Path of a PEM file with the only certificate authorities to trust.
        public var ca: String?
        /// Path of the client certificate: PEM, DER, or PKCS#12, which holds the key too.
        public var cert: String?
        /// Path of its private key, PEM or DER; without one it's in the certificate's file.
        public var key: String?
        /// Opens a key that is encrypted, or the PKCS#12 file.
        public var keyPassphrase: SecretText?
        /// `sha256/BASE64` of public keys (SPKI), one of which the server must have.
        public var pins: [String] = []
        /// Whoever answers is taken for the server: anybody on the way can read and change everything.
        public var insecure = false
        public init() {}
    }

    public enum Auth: Sendable, Hashable {
        /// The entries of `~/.netrc`: that of the job's own machine, and on the way those of machines that redirects
        /// lead to.
        ///
        /// - Parameters:
        ///   - user: Which of several entries of the job's own machine is meant.
        ///   - file: The path of another file than `~/.netrc`, which has to be there.
        case netrc(user: SecretText? = nil, file: String? = nil)
        /// A token, sent as `Authorization: Bearer …` (RFC 6750) to the job's own origin.
        case bearer(SecretText)
        case basic(user: SecretText, password: SecretText)
    }
}

/// How often and how long a job is tried again. Every `nil` stands for the default in parentheses.
public struct RetrySettings: Sendable, Hashable {
    /// Attempts after the first one (10); durable progress starts the count anew.
    public var limit: Int?
    /// Growth of the delay from one attempt to the next (2).
    public var base: Int?
    /// The first delay (1 s).
    public var scale: Duration?
    /// The longest delay (60 s).
    public var maxDelay: Duration?
    /// What waits that servers ask for (Retry-After) may take in all since the last byte that was made durable (24 h).
    public var maxWait: Duration?
    /// Spread the delays at random between half and the whole (true).
    public var jitter: Bool?
    /// Statuses worth another try (by class: 408, 421, 423, 425, 429, and every 5xx but 501, 505 to 508 and 510).
    public var statusCodes: Set<Int>?
    /// Methods that may be sent again (DELETE, GET, HEAD, OPTIONS, PUT, TRACE).
    public var methods: Set<String>?

    public init() {}
}

/// A value that may be a secret: written out, or named so that it is read only when it's needed.
public enum SecretText: Sendable, Hashable {
    case literal(String)
    /// The value of an environment variable.
    case environment(String)
    /// The contents of a file, without the newline at its end.
    case file(String)
    /// A file of systemd's `$CREDENTIALS_DIRECTORY`.
    case credential(String)
}
