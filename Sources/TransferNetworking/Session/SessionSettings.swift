public import Dispatch
public import Foundation
public import FoundationNetworking
public import TransferCore
public import TransferCrypto

/// Settings of all requests of a session, as one value.
public struct SessionSettings: Sendable {
    /// Sent with every request that doesn't set the same field itself.
    public var headers: HTTPHeaders { didSet { fields = headers.map { HeaderField($0.name, $0.value) } } }
    /// The headers in the engine's form.
    private(set) var fields: [HeaderField]
    private var participants = Participants()
    private var trust = Trust()
    private var queues = Queues()
    private var limits = Limits()
    private var route = Route()
    public var startRequestsImmediately = true
    /// The time at which the session's requests are set up.
    public var requestSetup = Session.RequestSetup.lazy
    public var interceptor: (any RequestInterceptor)? {
        get { participants.interceptor }
        set { participants.interceptor = newValue }
    }
    /// Judges servers; `nil` judges them as `DefaultTrustEvaluator` does.
    public var serverTrustManager: ServerTrustManager? {
        get { trust.serverTrustManager }
        set { trust.serverTrustManager = newValue }
    }
    /// Shown to servers that ask for a client's certificate; `nil` shows none.
    public var clientIdentity: ClientIdentity? {
        get { trust.clientIdentity }
        set { trust.clientIdentity = newValue }
    }
    /// By host, without a port; in place of ``clientIdentity`` for those.
    public var clientIdentities: [String: ClientIdentity] {
        get { trust.clientIdentities }
        set { trust.clientIdentities = newValue }
    }
    /// Asked about redirects of requests that have no handler of their own; `nil` follows them.
    public var redirectHandler: (any RedirectHandler)? {
        get { participants.redirectHandler }
        set { participants.redirectHandler = newValue }
    }
    /// Asked what of the answers to data requests is stored, where a request has no handler of its own; `nil` stores
    /// what may be stored.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        get { participants.cachedResponseHandler }
        set { participants.cachedResponseHandler = newValue }
    }
    /// The cache that keeps answers to data requests (RFC 9111); `nil` for no cache. Best a ``TransferCache``; any
    /// other `URLCache` holds one answer a URL.
    ///
    /// A configuration's own is taken over. Where that is `URLCache.shared`, as in every configuration that says
    /// nothing else, it's a new one in memory (8 MiB) for the sessions made with these settings: Foundation's would
    /// write into the user's home. Set it here to use that one all the same.
    public var cache: URLCache?
    /// For requests that have none of their own.
    public var cachePolicy: URLRequest.CachePolicy
    /// Told of what happens to the session's requests, each on its own queue. ``AlamofireNotifications`` alone cost
    /// nothing while nobody asks for the notifications.
    public var eventMonitors: [any EventMonitor] {
        get { participants.eventMonitors }
        set { participants.eventMonitors = newValue }
    }
    /// A serial queue: where retriers and validations are called, and what sessions do for all requests. `nil` makes
    /// one.
    public var rootQueue: DispatchQueue? {
        get { queues.rootQueue }
        set { queues.rootQueue = newValue }
    }
    /// The queue on which URL requests are made and adapted. `nil` makes one that targets the root queue.
    public var requestQueue: DispatchQueue? {
        get { queues.requestQueue }
        set { queues.requestQueue = newValue }
    }
    /// The queue on which responses are serialized. `nil` makes one.
    public var serializationQueue: DispatchQueue? {
        get { queues.serializationQueue }
        set { queues.serializationQueue = newValue }
    }
    /// The longest time without a byte in either direction; seconds. A URL request's own, when shorter, wins.
    public var requestTimeout: TimeInterval {
        get { limits.requestTimeout }
        set { limits.requestTimeout = newValue }
    }
    /// The longest time for a whole attempt; seconds.
    public var resourceTimeout: TimeInterval {
        get { limits.resourceTimeout }
        set { limits.resourceTimeout = newValue }
    }
    /// Transfers at a time with one host and port over HTTP/1.1; HTTP/2 shares one connection among many more.
    public var maximumConnectionsPerHost: Int {
        get { limits.maximumConnectionsPerHost }
        set { limits.maximumConnectionsPerHost = newValue }
    }
    public var allowsCellularAccess: Bool {
        get { route.allowsCellularAccess }
        set { route.allowsCellularAccess = newValue }
    }
    /// Whether requests wait for a way to the network, where there is none, instead of failing.
    /// ``resourceTimeout`` bounds the wait; what goes to this machine itself doesn't wait.
    public var waitsForConnectivity: Bool {
        get { route.waitsForConnectivity }
        set { route.waitsForConnectivity = newValue }
    }
    /// How long a download may be suspended before its connection is closed, and the rest asked for when it's resumed;
    /// `nil` keeps the connection for ever.
    public var suspensionLimit: Duration? {
        get { limits.suspensionLimit }
        set { limits.suspensionLimit = newValue }
    }
    /// The handling of cookies.
    public var cookies: CookieSettings
    /// The most redirects that are followed.
    public var maxRedirects: Int {
        get { limits.maxRedirects }
        set { limits.maxRedirects = newValue }
    }
    /// A PEM file with the only certificate authorities to trust; `nil` trusts the system's.
    public var authorities: String? {
        get { trust.authorities }
        set { trust.authorities = newValue }
    }
    /// The proxies that are used: those of the configuration's `connectionProxyDictionary`, where it has one, else
    /// those that the process's environment names, as curl(1) reads it (`http_proxy`, `https_proxy`, `all_proxy`,
    /// `no_proxy`). `.none` goes straight everywhere.
    public var proxies: ProxyRule {
        get { route.proxies }
        set { route.proxies = newValue }
    }
    /// The URL of one proxy for everything, in place of ``proxies``: `http`, `https`, `socks5` (names are looked up here)
    /// or `socks5h` (names are looked up by the proxy), with `user:password@` where the proxy asks for them. Setting `nil`
    /// goes straight.
    public var proxy: String? {
        get { proxies.http == proxies.https && proxies.exceptions.isEmpty ? proxies.http : nil }
        set { proxies = ProxyRule(http: newValue, https: newValue) }
    }
    /// A PEM file with the only certificate authorities to trust for an HTTPS proxy itself; `nil` trusts the system's.
    public var proxyAuthorities: String? {
        get { trust.proxyAuthorities }
        set { trust.proxyAuthorities = newValue }
    }
    /// The path of a Unix socket that every request goes through; hosts are not looked up then, and no proxy is used.
    public var unixSocket: String? {
        get { route.unixSocket }
        set { route.unixSocket = newValue }
    }
    /// Asked for the default credential of a protection space that challenges, where a request has none itself. It's
    /// asked on a thread that carries transfers: one of the program's own making has to answer at once.
    public var credentialStorage: URLCredentialStorage? {
        get { trust.credentialStorage }
        set { trust.credentialStorage = newValue }
    }
    /// The most bytes that a coded (compressed) answer may become in memory; `nil` for no bound.
    public var maxDecodedLength: Int64? {
        get { limits.maxDecodedLength }
        set { limits.maxDecodedLength = newValue }
    }
    /// Classes that carry the requests that they say they can, instead of the network: mocks, say. The first one that
    /// takes a request has it; what none takes goes to the network.
    public var protocolClasses: [URLProtocol.Type]
    /// Threads that carry transfers.
    public var loops = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
    /// The folder in which downloads are kept until they are complete.
    public var temporaryFolder = FileManager.default.temporaryDirectory.path

    /// The same settings that ``init(configuration:)`` takes over from a default configuration with the headers of
    /// `HTTPHeaders.default`; none is made, as that alone makes folders in the user's home on Linux.
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

    /// - Parameter configuration: Its timeouts, additional headers, limit of connections, cellular access, cache and
    ///   cache policy, cookies, proxies, credentials and protocol classes are taken over; later changes of it have no
    ///   effect.
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
