public import FoundationNetworking

// The settings of a session, for programs written for Alamofire.
extension Session {
    /// A closure that changes the URL request of a method that takes its parts, before it is adapted.
    @preconcurrency
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    /// The time at which a request is prepared: its URL request is created and adapted, and its task is created.
    public enum RequestSetup: Sendable {
        /// The request is prepared when it is started. Until then it costs nothing and can be changed.
        case lazy
        /// The request is prepared as soon as it is created. Later additions, such as adapters, may miss the first
        /// attempt. The program keeps the session until the start: a request that was not started ends with it.
        case eager
    }

    /// Whether the first response handler starts a request.
    public var startRequestsImmediately: Bool { settings.startRequestsImmediately }
    /// The time at which requests are prepared.
    public var requestSetup: RequestSetup { settings.requestSetup }
    /// The session's interceptor, called before that of a request itself.
    public var interceptor: (any RequestInterceptor)? { settings.interceptor }
    /// The evaluators of servers; `nil` evaluates them as ``DefaultTrustEvaluator`` does.
    public var serverTrustManager: ServerTrustManager? { settings.serverTrustManager }
    /// The handler for requests without a redirect handler of their own.
    public var redirectHandler: (any RedirectHandler)? { settings.redirectHandler }
    /// The handler for requests without a handler of cached responses of their own.
    public var cachedResponseHandler: (any CachedResponseHandler)? { settings.cachedResponseHandler }
    /// The monitors of a session that has no others.
    public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }
}
