public import Dispatch
import Foundation
public import FoundationNetworking

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
    ///   - interceptor: The interceptor, called before that of a request itself.
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
        let settings = SessionSettings(
            configuration, rootQueue, startRequestsImmediately, requestSetup, requestQueue, serializationQueue,
            interceptor, serverTrustManager, redirectHandler, cachedResponseHandler, eventMonitors)
        self.init(settings, configuration: configuration, delegate: delegate)
    }
}

extension SessionSettings {
    /// Takes the settings of a configuration, and those that programs written for Alamofire pass beside it.
    init(
        _ configuration: URLSessionConfiguration?, _ rootQueue: DispatchQueue, _ startRequestsImmediately: Bool,
        _ requestSetup: Session.RequestSetup, _ requestQueue: DispatchQueue?, _ serializationQueue: DispatchQueue?,
        _ interceptor: (any RequestInterceptor)?, _ serverTrustManager: ServerTrustManager?,
        _ redirectHandler: (any RedirectHandler)?, _ cachedResponseHandler: (any CachedResponseHandler)?,
        _ eventMonitors: [any EventMonitor]
    ) {
        if let configuration { self.init(configuration: configuration) } else { self.init() }
        self.rootQueue = rootQueue
        self.startRequestsImmediately = startRequestsImmediately
        self.requestSetup = requestSetup
        self.requestQueue = requestQueue
        self.serializationQueue = serializationQueue
        self.interceptor = interceptor
        self.serverTrustManager = serverTrustManager
        self.redirectHandler = redirectHandler
        self.cachedResponseHandler = cachedResponseHandler
        self.eventMonitors = eventMonitors
    }
}
