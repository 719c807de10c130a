// What a program adds to one request: it counts from the next attempt on, and so best before the request is started.
extension Request {
    /// Has `adapter` change the URL request: after the interceptors that the request has, before the session's.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self { interceptor(Interceptor(adapters: [adapter])) }

    /// Has `retrier` asked about failures: after the interceptors that the request has, before the session's.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self { interceptor(Interceptor(retriers: [retrier])) }

    /// Adds `interceptor` behind those that the request has; the session's comes after it.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        update { $0.own.interceptors.append(interceptor) }
        return self
    }

    /// Tells `monitor` of this request too, after the session's monitors.
    @discardableResult
    public func eventMonitor(_ monitor: any EventMonitor) -> Self {
        add(monitor)
        return self
    }
}
