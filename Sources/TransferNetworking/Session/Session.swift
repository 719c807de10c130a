public import Dispatch
import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferReachability

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The session that `Session.default` is, under the name that documented programs use.
public let AF = Session.default

/// Makes requests that share one configuration and one set of connections.
///
/// A session only builds requests; what they do with the network is theirs. Requests that are under way keep their
/// session; when the last of both is gone, its connections are closed.
///
/// `@unchecked Sendable`, as an open class: everything in it is constant or behind a lock.
open class Session: @unchecked Sendable {
    public static let `default` = Session()

    /// Changes the URL request of a method that takes its parts, before it's adapted.
    @preconcurrency
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    public let settings: SessionSettings
    public let delegate: SessionDelegate
    /// Where retriers and validations are called.
    public let rootQueue: DispatchQueue
    /// Where URL requests are made and adapted.
    public let requestQueue: DispatchQueue
    /// Where responses are serialized.
    public let serializationQueue: DispatchQueue
    let monitors: CompositeEventMonitor?
    let active = ActiveRequests()
    let hosts: HostSlots
    let connectivity = ConnectivityWatch()
    let cache: SessionCache?
    let authenticationMemory = AuthenticationMemory()
    let cookies: SessionCookies?
    let protocols: ProtocolClasses?
    private let configuration: URLSessionConfiguration
    private let lazyEngine = Mutex<ExchangeEngine?>(nil)
    private let lazyRules = Mutex<TLSRules?>(nil)
    private let lastSettings = Mutex(LastSettings())
    private let foundation = Mutex<URLSession?>(nil)
    private let lastTask = Atomic(0)

    public var startRequestsImmediately: Bool { settings.startRequestsImmediately }
    public var interceptor: (any RequestInterceptor)? { settings.interceptor }
    public var serverTrustManager: ServerTrustManager? { settings.serverTrustManager }
    public var redirectHandler: (any RedirectHandler)? { settings.redirectHandler }
    public var cachedResponseHandler: (any CachedResponseHandler)? { settings.cachedResponseHandler }
    public var eventMonitor: CompositeEventMonitor { monitors ?? CompositeEventMonitor(monitors: []) }

    /// What Foundation's signatures need: it carries the configuration, and nothing is ever sent through it.
    public var session: URLSession {
        foundation.withLock { session in
            if let session { return session }
            let made = URLSession(configuration: configuration)
            session = made
            return made
        }
    }

    /// - Parameters:
    ///   - settings: What holds for all requests.
    ///   - configuration: What ``session`` carries; the settings are what counts.
    public init(
        _ settings: SessionSettings, configuration: URLSessionConfiguration = .af.default,
        delegate: SessionDelegate = SessionDelegate()
    ) {
        self.settings = settings
        self.configuration = configuration
        self.delegate = delegate
        let root = settings.rootQueue ?? DispatchQueue(label: "transferkit.session.root")
        rootQueue = root
        requestQueue = settings.requestQueue ?? DispatchQueue(label: "transferkit.session.requests", target: root)
        serializationQueue = settings.serializationQueue ?? DispatchQueue(label: "transferkit.session.serialization")
        monitors = settings.eventMonitors.isEmpty ? nil : CompositeEventMonitor(monitors: settings.eventMonitors)
        cache = settings.cache.map { SessionCache($0) }
        cookies = SessionCookies(settings.cookies)
        protocols = ProtocolClasses(settings.protocolClasses)
        hosts = HostSlots(limit: settings.maximumConnectionsPerHost)
    }

    /// - Parameters:
    ///   - configuration: Carries the settings; changes to it afterwards have no effect.
    ///   - delegate: Carries the file manager.
    ///   - rootQueue: A serial queue.
    ///   - startRequestsImmediately: Whether a request starts when its first response handler is added.
    ///   - requestQueue: Where URL requests are made and adapted; `nil` makes one that targets `rootQueue`.
    ///   - serializationQueue: Where responses are serialized; `nil` makes one.
    ///   - interceptor: Called after that of a request itself.
    ///   - serverTrustManager: Judges servers; `nil` judges them as `DefaultTrustEvaluator` does.
    ///   - redirectHandler: Asked where a request has none of its own.
    ///   - cachedResponseHandler: Asked what is stored, where a request has no handler of its own.
    ///   - eventMonitors: Each is called on its own queue.
    public convenience init(
        configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "transferkit.session.root"),
        startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var settings = SessionSettings(configuration: configuration)
        settings.rootQueue = rootQueue
        settings.startRequestsImmediately = startRequestsImmediately
        settings.requestQueue = requestQueue
        settings.serializationQueue = serializationQueue
        settings.interceptor = interceptor
        settings.serverTrustManager = serverTrustManager
        settings.redirectHandler = redirectHandler
        settings.cachedResponseHandler = cachedResponseHandler
        settings.eventMonitors = eventMonitors
        self.init(settings, configuration: configuration, delegate: delegate)
    }

    /// A session with the configuration of a `URLSession`, through which nothing is sent.
    ///
    /// - Parameter rootQueue: A serial queue.
    public convenience init(
        session: URLSession,
        delegate: SessionDelegate,
        rootQueue: DispatchQueue,
        startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        self.init(
            configuration: session.configuration, delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors)
        foundation.withLock { $0 = session }
    }

    deinit {
        lazyEngine.withLock { $0 }?.shutDown()
        guard let monitors else { return }
        let session = session
        monitors.emit(MonitorEvent { $0.urlSession(session, didBecomeInvalidWithError: nil) })
    }

    // MARK: All requests

    /// Calls `action` on the root queue with the requests that were started and haven't come to their end.
    @preconcurrency
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { [active] in action(active.all) }
    }

    /// Cancels the requests that were started and haven't come to their end, then calls `completion`.
    @preconcurrency
    public func cancelAllRequests(
        completingOn queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async { completion() } }
        }
    }

    // MARK: What requests need

    /// The session's connections and threads, made when the first request needs them.
    ///
    /// - Throws: `TransferError` when the system has no threads or descriptors left.
    func engine() throws -> ExchangeEngine {
        try lazyEngine.withLock { engine in
            if let engine { return engine }
            let made = try ExchangeEngine(loops: settings.loops)
            engine = made
            return made
        }
    }

    /// Whom the session trusts, made when the first request needs it.
    ///
    /// - Throws: `TransferError` when the file of the authorities can't be read.
    func tlsRules() throws -> TLSRules {
        try lazyRules.withLock { rules in
            if let rules { return rules }
            let made = try settings.tlsRules()
            rules = made
            lastSettings.withLock { $0.adopt(made) }
            return made
        }
    }

    /// What the session and one of its requests ask for.
    func exchangeSettings(of request: URLRequest) -> Shared<ExchangeSettings> {
        lastSettings.withLock { $0.settings(of: request, in: settings) }
    }

    var nextTaskNumber: Int { lastTask.add(1, ordering: .relaxed).newValue }

    func chain(for request: Request) -> InterceptorChain {
        if request.interceptor == nil, settings.interceptor == nil { return InterceptorChain(interceptors: []) }
        return InterceptorChain(interceptors: [request.interceptor, settings.interceptor].compactMap { $0 })
    }

    /// - Throws: `URLError.resourceUnavailable` where only the cache may answer; `URLError.dataNotAllowed` where the only way out is a cellular link, and the request may not use it.
    ///   What the kernel doesn't tell is no reason to refuse.
    func checkAccess(of request: URLRequest) throws {
        // What is stored would have been found before.
        if cachePolicy(of: request) == .returnCacheDataDontLoad { throw URLError(.resourceUnavailable) }
        guard !settings.allowsCellularAccess || !request.allowsCellularAccess else { return }
        let host = request.url?.host ?? ""
        let isLocal = host == "localhost" || IPAddress(host)?.isLoopback == true
        guard !isLocal, NetworkReachabilityManager()?.isReachableOnCellular == true else { return }
        throw URLError(.dataNotAllowed)
    }
}
