public import Dispatch
import Foundation
public import FoundationNetworking

// What programs can look at beside the course of the request itself.
extension Request {
    /// The request's session; never `nil`, as a request keeps its session.
    public var delegate: (any RequestDelegate)? { session }
    /// The session's root queue: where retriers and validations are called.
    public var underlyingQueue: DispatchQueue { session.rootQueue }
    /// The queue on which responses are serialized.
    public var serializationQueue: DispatchQueue { session.serializationQueue }
    /// The interceptors of the request itself, as one; `nil` where it has none.
    public var interceptor: (any RequestInterceptor)? {
        let own = read { $0.own.interceptors }
        return own.count > 1 ? Interceptor(interceptors: own) : own.first
    }
    /// Everybody who is told of the request: the session's monitors, and its own.
    public var eventMonitor: (any EventMonitor)? {
        guard let own = read({ $0.own.monitors }) else { return session.eventMonitor }
        return CompositeEventMonitor(monitors: session.eventMonitor.monitors + own.monitors)
    }
    /// The URL requests of its tasks, as they were sent; the latest 32.
    public var performedRequests: [URLRequest] { read { $0.attempts.elements }.map(\.urlRequest) }
    /// The credential that ``authenticate(with:)`` was given last.
    public var credential: URLCredential? { read { $0.own.credential?.given } }
    /// The request's own, where it has one.
    public var redirectHandler: (any RedirectHandler)? { read { $0.own.redirectHandler } }
    /// The request's own, where it has one.
    public var cachedResponseHandler: (any CachedResponseHandler)? { read { $0.own.cachedResponseHandler } }
    /// The closure that ``uploadProgress(queue:closure:)`` was given last, and its queue.
    public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        read { $0.progress.upload }.map { ($0.closure, $0.queue) }
    }
    /// The closure that ``downloadProgress(queue:closure:)`` was given last, and its queue.
    public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        read { $0.progress.download }.map { ($0.closure, $0.queue) }
    }
}
