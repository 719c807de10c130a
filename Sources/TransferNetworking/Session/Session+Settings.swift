public import FoundationNetworking

// What a session was made with, as documented programs look at it.
extension Session {
    /// Changes the URL request of a method that takes its parts, before it's adapted.
    @preconcurrency
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    /// When a request is set up: its URL request made and adapted, and its task made.
    public enum RequestSetup: Sendable {
        /// When it's started; before that a request costs nothing, and can still be changed.
        case lazy
        /// As soon as the request is made. What is said to the request after that, adapters for example, may come too
        /// late for the first attempt.
        case eager
    }

    public var startRequestsImmediately: Bool { settings.startRequestsImmediately }
    /// The time at which URL requests are made and adapted.
    public var requestSetup: RequestSetup { settings.requestSetup }
    public var interceptor: (any RequestInterceptor)? { settings.interceptor }
    public var serverTrustManager: ServerTrustManager? { settings.serverTrustManager }
    public var redirectHandler: (any RedirectHandler)? { settings.redirectHandler }
    public var cachedResponseHandler: (any CachedResponseHandler)? { settings.cachedResponseHandler }
    /// The monitors of a session that is given none.
    public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }
}
