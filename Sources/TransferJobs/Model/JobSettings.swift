public import TransferCore
package import TransferEngine

/// The settings of one job; every value that is `nil` has the documented default.
public struct JobSettings: Sendable, Hashable {
    /// The header fields of the job's requests.
    public var headers: [HeaderSetting] = []
    /// The rules for retries.
    public var retry = RetrySettings()
    /// The time to connect, TLS included; 30 s by default.
    public var connectTimeout: Duration?
    /// The longest silence while waiting for or reading a response; 60 s by default.
    public var timeout: Duration?
    /// The rate and time below which a transfer counts as stalled; 1 byte a second for 60 s by default.
    public var lowSpeed: LowSpeed?
    /// The longest time of one attempt; unlimited by default.
    public var maxTime: Duration?
    /// The limit of this job's rate, in bytes a second; unlimited by default.
    public var limitRate: Int64?
    /// The proxy; `nil` uses the environment's.
    public var proxy: Proxy?
    /// The settings of TLS.
    public var tls = TLSSettings()
    /// The login; `nil` for none.
    public var auth: Auth?
    /// The maximum number of redirects, 0 to 100; 10 by default.
    public var maxRedirects: Int?
    /// The rules for the use of the machine's links.
    public var network = NetworkPolicy()
    /// The access to `s3://bucket/key` URLs.
    public var s3: S3Access?
    /// The settings of HTTP.
    public var http = HTTPRules()

    /// Creates settings with the defaults.
    public init() {}

    /// The access to `sftp` URLs.
    public var ssh: SSHAccess?
    /// The access to `ftp` and `ftps` URLs.
    public var ftp: FTPAccess?

    /// The hook that is called when the job has ended; it does not count for the job's identity.
    public var onFinish: FinishHook?

    /// The condition for workers, where several share the queue; it does not count for the job's identity.
    public var worker: WorkerRule = WorkerRule()

    /// The congestion control of connections that send; ``/TransferCore/CongestionControl/automatic`` by default.
    public var congestion: CongestionControl?

    /// Whether the job's connections yield to other traffic on the same link.
    public var isBackground: Bool = false

    /// The bounds of a job that was submitted from outside this machine; they do not count for the job's identity.
    package var confinement: JobConfinement?

    /// The secrets of the job, encrypted with a key outside the database; they do not count for the job's identity.
    package var sealed: String?

    /// The settings of HTTP.
    public struct HTTPRules: Sendable, Hashable {
        /// The only version to use; `nil` lets the server and this machine agree on one.
        public var version: Version?
        /// The path of a file with cookies in Netscape's format, each for the servers that it names.
        public var cookies: String?
        /// The rules of another tool's command line; no key of a job file sets them.
        package var front = FrontRules()

        /// Creates settings with the defaults.
        public init() {}

        /// The differences of a request to the one that a job file describes.
        package struct FrontRules: Sendable, Hashable {
            /// The method and the body behind redirects.
            package var redirects = RedirectMethods()
            /// Whether an upload has the Content-Type that its file's name suggests.
            package var suggestsType = true
            /// Whether a file of the destination's name that has the same bytes counts as the download's own.
            package var takesSame = true
            /// Whether the number of a new name stands at its end: `x.iso.1` in place of `x.1.iso`.
            package var numbersLast = false
            /// Whether a file that its server has no further bytes of stays, and counts as complete.
            package var keepsLonger = false
            /// The versions of IP that connections use.
            package var families = AddressFamilies.any

            /// Creates the rules of a job file.
            package init() {}
        }

        /// A version of HTTP.
        public enum Version: String, Sendable, Hashable, CaseIterable {
            /// HTTP/1.1, with a connection for each active request.
            case one = "1.1"
        }
    }

    /// A header field of a request.
    public struct HeaderSetting: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The field's value, which may be the name of a secret.
        public var value: SecretText
        /// The source of the field.
        package var standing = Standing.own

        /// Creates a header field.
        public init(name: String, value: SecretText) {
            self.name = name
            self.value = value
        }

        package enum Standing: Sendable, Hashable {
            /// The job or its file set the field.
            case own
            /// The rules of ``RequestRules`` set the field; the value is the one that the job file's `defaults` have,
            /// if any.
            case laidOver(SecretText?)
        }

        /// The value that counts for the job's identity; `nil` for none.
        package var lasting: SecretText? {
            switch standing {
            case .own: value
            case .laidOver(let old): old
            }
        }
    }

    /// The rate below which a transfer counts as stalled after some time.
    public struct LowSpeed: Sendable, Hashable {
        /// The rate in bytes a second.
        public var rate: Int64
        /// The time for which the rate may be lower.
        public var time: Duration
        /// Creates a limit; `rate` is in bytes a second.
        public init(rate: Int64, time: Duration) {
            self.rate = rate
            self.time = time
        }
    }

    /// A proxy.
    public struct Proxy: Sendable, Hashable {
        /// The `http://`, `https://`, `socks5://` or `socks5h://` URL; an empty text switches proxies off.
        public var url: String {
            didSet { if !url.isEmpty { isOfEnvironment = false } }
        }
        /// The hosts, domains and CIDR blocks that are reached without the proxy, separated by commas.
        public var noProxy: String?
        /// The login at the proxy; `nil` for none.
        public var credentials: Credentials?
        /// Whether the environment's proxy is used; ``url`` is empty then.
        public private(set) var isOfEnvironment = false

        /// Creates a proxy; an empty `url` switches proxies off.
        public init(url: String, noProxy: String? = nil, credentials: Credentials? = nil) {
            self.url = url
            self.noProxy = noProxy
            self.credentials = credentials
        }

        /// Returns the environment's proxy with these exceptions, which replace the environment's own.
        public static func environment(except noProxy: String) -> Proxy {
            var proxy = Proxy(url: "", noProxy: noProxy)
            proxy.isOfEnvironment = true
            return proxy
        }

        /// The login that the proxy receives when it asks for authentication.
        public struct Credentials: Sendable, Hashable {
            /// The user's name.
            public var user: SecretText
            /// The password.
            public var password: SecretText
            /// Creates a login.
            public init(user: SecretText, password: SecretText) {
                self.user = user
                self.password = password
            }
        }
    }

    /// The settings of TLS.
    public struct TLSSettings: Sendable, Hashable {
        /// The path of a PEM file with the only certificate authorities to trust.
        public var ca: String?
        /// The path of the client certificate: PEM, DER, or PKCS#12, which contains the key too.
        public var cert: String?
        /// The path of the private key, PEM or DER; `nil` where the certificate's file contains it.
        public var key: String?
        /// The passphrase of an encrypted key or a PKCS#12 file.
        public var keyPassphrase: SecretText?
        /// The digests of public keys (SPKI) in the form `sha256/BASE64`, one of which the server must have.
        public var pins: [String] = []
        /// Whether certificates are not checked. Any host on the network path can then read and change all data.
        public var insecure = false
        /// Creates settings with the defaults.
        public init() {}
    }

    /// The login at a server.
    public enum Auth: Sendable, Hashable {
        /// The entries of `~/.netrc`: the entry for the job's own machine, and on redirects those for the machines they
        /// lead to.
        ///
        /// - Parameters:
        ///   - user: The user's name, which selects one of several entries for the job's own machine.
        ///   - file: The path of a file that must exist, in place of `~/.netrc`.
        case netrc(user: SecretText? = nil, file: String? = nil)
        /// A token, sent as `Authorization: Bearer …` (RFC 6750) to the job's own origin.
        case bearer(SecretText)
        case basic(user: SecretText, password: SecretText)
    }
}

/// The rules for retries. A value of `nil` means the default in parentheses.
public struct RetrySettings: Sendable, Hashable {
    /// The number of attempts after the first (10); durable progress resets the count.
    public var limit: Int?
    /// The growth factor of the delay from one attempt to the next (2).
    public var base: Int?
    /// The first delay (1 s).
    public var scale: Duration?
    /// The longest delay (60 s).
    public var maxDelay: Duration?
    /// The total time that waits requested by servers (Retry-After) may take since the last byte became durable (24 h).
    public var maxWait: Duration?
    /// Whether delays are randomized between half and the whole value (true).
    public var jitter: Bool?
    /// The statuses that justify a retry (by class: 408, 421, 423, 425, 429, and every 5xx but 501, 505 to 508 and
    /// 510).
    public var statusCodes: Set<Int>?
    /// The methods that may be repeated (DELETE, GET, HEAD, OPTIONS, PUT, TRACE).
    public var methods: Set<String>?

    /// Creates rules with the defaults.
    public init() {}
}

/// A value that may be a secret: a literal, or a reference that is resolved only when the value is needed.
public enum SecretText: Sendable, Hashable {
    case literal(String)
    /// The value of an environment variable.
    case environment(String)
    /// The contents of a file, without the newline at its end.
    case file(String)
    /// A file of systemd's `$CREDENTIALS_DIRECTORY`.
    case credential(String)
}
