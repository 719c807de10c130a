public import Dispatch
public import Foundation
public import FoundationNetworking
public import TransferCore
public import TransferCrypto

/// The settings of all requests of a session, as one value.
public struct SessionSettings: Sendable {
    /// The header fields of all requests, unless a request has its own field of that name.
    public var headers: HTTPHeaders { didSet { fields = headers.map { HeaderField($0.name, $0.value) } } }
    /// The header fields in the engine's form.
    private(set) var fields: [HeaderField]
    /// Whether the first response handler starts a request.
    public var startRequestsImmediately = true
    /// The time at which the session's requests are prepared.
    public var requestSetup = Session.RequestSetup.lazy
    /// The session's interceptor, called before that of a request itself.
    public var interceptor: (any RequestInterceptor)?
    /// The evaluators of servers; `nil` evaluates them as ``DefaultTrustEvaluator`` does.
    public var serverTrustManager: ServerTrustManager?
    /// The identity for servers that ask for a client's certificate; `nil` sends none.
    public var clientIdentity: ClientIdentity?
    /// The identities for single hosts, by name without a port; they replace ``clientIdentity`` there.
    public var clientIdentities: [String: ClientIdentity] = [:]
    /// The handler for requests without a redirect handler of their own; `nil` follows redirects.
    public var redirectHandler: (any RedirectHandler)?
    /// The handler for requests without a handler of cached responses of their own; `nil` stores all responses that may
    /// be stored.
    public var cachedResponseHandler: (any CachedResponseHandler)?
    /// The cache of responses to data requests (RFC 9111); `nil` for no cache. A ``TransferCache`` is best, as any
    /// other `URLCache` holds one response for each URL.
    ///
    /// The cache of a configuration is taken, except for `URLCache.shared`, which every configuration has by default.
    /// Foundation's shared cache would write into the user's home folder. A new cache in memory (8 MiB) replaces it for
    /// the sessions with these settings. A program that wants the shared cache sets it here.
    public var cache: URLCache?
    /// The cache policy for requests without their own.
    public var cachePolicy: URLRequest.CachePolicy
    /// The monitors of the session's requests, each called on its own queue. ``AlamofireNotifications`` alone costs
    /// nothing until the program asks for notifications.
    public var eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    /// The serial queue on which retriers and validations are called, and commands to all requests run. `nil` creates
    /// one.
    public var rootQueue: DispatchQueue?
    /// The queue on which URL requests are created and adapted. `nil` creates one that targets the root queue.
    public var requestQueue: DispatchQueue?
    /// The queue on which responses are serialized. `nil` creates one.
    public var serializationQueue: DispatchQueue?
    /// The time-out of a request, in seconds: the longest time without a byte in either direction. It bounds the
    /// program's decisions about responses, redirects and the cache too. A suspension does not count.
    ///
    /// The shorter of this value and the URL request's `timeoutInterval` counts. A value of 60, Foundation's default,
    /// counts only where the other one was not set either.
    public var requestTimeout: TimeInterval = 60
    /// The longest time for a whole attempt, in seconds.
    public var resourceTimeout: TimeInterval = 7 * 24 * 3600
    /// The limit of simultaneous transfers with one host and port over HTTP/1.1. HTTP/2 shares one connection among
    /// many more.
    public var maximumConnectionsPerHost: Int = 6
    /// Whether requests may use a cellular link as the only route to the network.
    public var allowsCellularAccess: Bool = true
    /// Whether requests wait for a route to the network, where there is none, instead of failing. ``resourceTimeout``
    /// bounds the wait; requests to this machine itself do not wait.
    public var waitsForConnectivity: Bool = false
    /// The longest suspension of a download before its connection is closed; `nil` keeps the connection for ever. The
    /// rest is requested when the download is resumed.
    public var suspensionLimit: Duration? = .seconds(60)
    /// The handling of cookies.
    public var cookies: CookieSettings
    /// The limit of redirects that are followed.
    public var maxRedirects: Int = 20
    /// The path of a PEM file with the only certificate authorities to trust; `nil` trusts the system's.
    public var authorities: String?
    /// The proxies that are used. Those of the configuration's `connectionProxyDictionary` come first, then those of
    /// the process's environment as curl(1) reads it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`). `.none`
    /// uses no proxy.
    public var proxies: ProxyRule = .none
    /// The URL of one proxy for all requests, in place of ``proxies``; `nil` uses no proxy. The schemes are `http`,
    /// `https`, `socks5` (names are resolved here) and `socks5h` (names are resolved by the proxy). The URL contains
    /// `user:password@` if the proxy requires it.
    public var proxy: String? {
        get { proxies.http == proxies.https && proxies.exceptions.isEmpty ? proxies.http : nil }
        set { proxies = ProxyRule(http: newValue, https: newValue) }
    }
    /// The path of a PEM file with the only certificate authorities to trust for an HTTPS proxy itself; `nil` trusts
    /// the system's.
    public var proxyAuthorities: String?
    /// The path of a Unix socket for all requests. Host names are then not resolved, and no proxy is used.
    public var unixSocket: String?
    /// The storage of default credentials for challenges, for requests without a credential of their own. It is called
    /// on a thread that carries transfers, so that a storage of the program has to answer at once.
    public var credentialStorage: URLCredentialStorage?
    /// The largest size of a compressed response after decoding in memory, in bytes; `nil` for no limit.
    public var maxDecodedLength: Int64? = 2 << 30
    /// The `URLProtocol` classes that carry requests in place of the network, such as mocks. The first class that
    /// claims a request carries it; other requests use the network.
    public var protocolClasses: [URLProtocol.Type]
    /// The number of threads that carry transfers.
    public var loops = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
    /// The parts of a released session, for the session that reports the end of its requests.
    var inherited: SessionParts?
    /// The folder in which downloads are kept until they are complete.
    public var temporaryFolder = FileManager.default.temporaryDirectory.path

    /// Creates the settings of a default configuration with the header fields of `HTTPHeaders.default`. No
    /// configuration is created, as that alone makes folders in the user's home on Linux.
    public init() {
        headers = .default
        fields = headers.map { HeaderField($0.name, $0.value) }
        cache = TransferCache.ofSession()
        cachePolicy = .useProtocolCachePolicy
        cookies = CookieSettings()
        protocolClasses = []
        proxies = ProxyRule(environment: ProcessInfo.processInfo.environment)
        credentialStorage = .shared
    }

    /// Takes the settings of a configuration; later changes to it have no effect.
    ///
    /// - Parameter configuration: The source of timeouts, additional headers, limit of connections, cellular access,
    ///   cache, cache policy, cookies, proxies, credentials and protocol classes.
    public init(configuration: URLSessionConfiguration) {
        headers = configuration.headers
        fields = headers.map { HeaderField($0.name, $0.value) }
        let given = configuration.urlCache
        cache = given is TransferCache || given !== URLCache.shared ? given : .some(TransferCache.ofSession())
        cachePolicy = configuration.requestCachePolicy
        cookies = CookieSettings(configuration)
        protocolClasses = ProtocolClasses.own(of: configuration)
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        maximumConnectionsPerHost = max(1, configuration.httpMaximumConnectionsPerHost)
        allowsCellularAccess = configuration.allowsCellularAccess
        waitsForConnectivity = configuration.waitsForConnectivity
        proxies =
            configuration.proxyDictionary.map { ProxyRule(connectionProxyDictionary: $0) }
            ?? ProxyRule(environment: ProcessInfo.processInfo.environment)
        credentialStorage = configuration.urlCredentialStorage
    }
}
