// The program's additions to one request. They apply from the next attempt, and are best made before the request is
// started.
extension Request {
    /// Adds an adapter of the URL request. It runs after the session's interceptor and the request's so far.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self { interceptor(Interceptor(adapters: [adapter])) }

    /// Adds a retrier. It is asked after the session's interceptor and the request's so far.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self { interceptor(Interceptor(retriers: [retrier])) }

    /// Adds an interceptor after the session's and the request's so far.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        update { $0.own.interceptors.append(interceptor) }
        return self
    }

    /// Adds a monitor of this request, which receives events after the session's monitors.
    @discardableResult
    public func eventMonitor(_ monitor: any EventMonitor) -> Self {
        add(monitor)
        return self
    }
}
