public import Dispatch
import Foundation
public import FoundationNetworking
import Synchronization

// The forms in which documented programs make sessions.
extension Session {
    /// - Parameters:
    ///   - configuration: Carries the settings; changes to it afterwards have no effect. `nil` stands for
    ///     `URLSessionConfiguration.af.default`.
    ///   - delegate: Carries the file manager.
    ///   - rootQueue: A serial queue.
    ///   - startRequestsImmediately: Whether a request starts when its first response handler is added.
    ///   - requestSetup: When a request is set up.
    ///   - requestQueue: Where URL requests are made and adapted; `nil` makes one that targets `rootQueue`.
    ///   - serializationQueue: Where responses are serialized; `nil` makes one.
    ///   - interceptor: Called after that of a request itself.
    ///   - serverTrustManager: Judges servers; `nil` judges them as `DefaultTrustEvaluator` does.
    ///   - redirectHandler: Asked where a request has none of its own.
    ///   - cachedResponseHandler: Asked what is stored, where a request has no handler of its own.
    ///   - eventMonitors: Each is called on its own queue.
    public convenience init(
        configuration: URLSessionConfiguration? = nil,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "transferkit.session.root"),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    ) {
        var settings = configuration.map { SessionSettings(configuration: $0) } ?? SessionSettings()
        settings.rootQueue = rootQueue
        settings.startRequestsImmediately = startRequestsImmediately
        settings.requestSetup = requestSetup
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
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    ) {
        self.init(
            configuration: session.configuration, delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup,
            requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors)
        foundation.withLock { $0 = session }
    }
}
