public import Dispatch
import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferReachability

// What a session has for its requests, and does to all of them.
extension Session {
    /// The session that Foundation's signatures need: it carries the configuration, and knows the tasks of the requests
    /// that are under way. Nothing is ever sent through it.
    public var session: URLSession {
        foundation.withLock { session in
            if let session { return session }
            let made = CarrierSession(configuration: configuration, owner: self)
            session = made
            return made
        }
    }

    var configuration: URLSessionConfiguration {
        lazyConfiguration.withLock { configuration in
            if let configuration { return configuration }
            let made = URLSessionConfiguration.af.default
            configuration = made
            return made
        }
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
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async { completion() } }
        }
    }

    /// The same, as some documents write it.
    @preconcurrency
    public func cancelAllRequests(completingOn queue: DispatchQueue, completion: (@Sendable () -> Void)? = nil) {
        cancelAllRequests(completingOnQueue: queue, completion: completion)
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

    /// Those who are told of what happens; `nil` where nobody is, so that nothing has to be made for them.
    var monitors: CompositeEventMonitor? {
        if isObserved { return eventMonitor }
        return RequestNotifications.areObserved && !eventMonitor.monitors.isEmpty ? eventMonitor : nil
    }

    /// A request that was made just now.
    func made<Made: Request>(_ request: Made) -> Made {
        if settings.requestSetup == .eager { request.send(.setUp) }
        return request
    }

    var nextTaskNumber: Int { lastTask.add(1, ordering: .relaxed).newValue }

    func chain(for request: Request) -> InterceptorChain {
        let own = request.read { $0.own.interceptors }
        guard let shared = settings.interceptor else { return InterceptorChain(interceptors: own) }
        return InterceptorChain(interceptors: own + [shared])
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
