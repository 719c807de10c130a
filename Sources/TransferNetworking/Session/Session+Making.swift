public import Dispatch
import Foundation
public import FoundationNetworking
import Synchronization

// The forms in which programs written for Alamofire create sessions.
extension Session {
    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The settings; later changes to it have no effect. `nil` means
    ///     `URLSessionConfiguration.af.default`.
    ///   - delegate: The delegate, which carries the file manager.
    ///   - rootQueue: The serial queue on which retriers and validations are called.
    ///   - startRequestsImmediately: Whether the first response handler starts a request.
    ///   - requestSetup: The time at which a request is prepared.
    ///   - requestQueue: The queue on which URL requests are created and adapted; `nil` creates one that targets
    ///     `rootQueue`.
    ///   - serializationQueue: The queue on which responses are serialized; `nil` creates one.
    ///   - interceptor: The interceptor, called after that of a request itself.
    ///   - serverTrustManager: The evaluators of servers; `nil` evaluates them as `DefaultTrustEvaluator` does.
    ///   - redirectHandler: The handler for requests without a redirect handler of their own.
    ///   - cachedResponseHandler: The handler for requests without a handler of cached responses of their own.
    ///   - eventMonitors: The monitors, each called on its own queue.
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

    /// Creates a session with the configuration of a `URLSession`, which sends nothing.
    ///
    /// - Parameters:
    ///   - session: The `URLSession` that becomes the value of ``session``.
    ///   - delegate: The delegate, which carries the file manager.
    ///   - rootQueue: The serial queue on which retriers and validations are called.
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
