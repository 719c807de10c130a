public import Dispatch
import Foundation
public import FoundationNetworking

// The properties that programs can read besides the state of the request.
extension Request {
    /// The request's session, or its successor if it was released; never `nil`.
    public var delegate: (any RequestDelegate)? { session }
    /// The session's root queue, on which retriers and validations are called.
    public var underlyingQueue: DispatchQueue { session.rootQueue }
    /// The queue on which responses are serialized.
    public var serializationQueue: DispatchQueue { session.serializationQueue }
    /// The request's own interceptors, combined into one; `nil` without any.
    public var interceptor: (any RequestInterceptor)? {
        let own = read { $0.own.interceptors }
        return own.count > 1 ? Interceptor(interceptors: own) : own.first
    }
    /// The monitors of the session and of the request, combined into one.
    public var eventMonitor: (any EventMonitor)? {
        guard let own = read({ $0.own.monitors }) else { return session.eventMonitor }
        return CompositeEventMonitor(monitors: session.eventMonitor.monitors + own.monitors)
    }
    /// The URL requests of the attempts, as they were sent; the latest 32.
    public var performedRequests: [URLRequest] { read { $0.attempts.elements }.map(\.urlRequest) }
    /// The credential of the last call of ``authenticate(with:)``.
    public var credential: URLCredential? { read { $0.own.credential?.given } }
    /// The request's own redirect handler, if it has one.
    public var redirectHandler: (any RedirectHandler)? { read { $0.own.redirectHandler } }
    /// The request's own handler of cached responses, if it has one.
    public var cachedResponseHandler: (any CachedResponseHandler)? { read { $0.own.cachedResponseHandler } }
    /// The closure of the last call of ``uploadProgress(queue:closure:)``, and its queue.
    public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        read { $0.progress.upload }.map { ($0.closure, $0.queue) }
    }
    /// The closure of the last call of ``downloadProgress(queue:closure:)``, and its queue.
    public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        read { $0.progress.download }.map { ($0.closure, $0.queue) }
    }
}
