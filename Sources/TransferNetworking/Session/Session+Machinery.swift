public import Dispatch
import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferReachability

// The session's services for its requests, and its commands to all of them.
extension Session {
    /// The session that Foundation's signatures need. It carries the configuration, lists the tasks of running
    /// requests, and sends nothing.
    public var session: URLSession { carrier(of: self) }

    /// - Parameter owner: The session whose requests are listed; `nil` where it is being released.
    func carrier(of owner: Session?) -> URLSession {
        parts.foundation.session.withLock { session in
            if let session { return session }
            let made = CarrierSession(configuration: configuration, delegate: delegate, owner: owner)
            session = made
            return made
        }
    }

    var configuration: URLSessionConfiguration {
        parts.foundation.configuration.withLock { configuration in
            if let configuration { return configuration }
            let made = URLSessionConfiguration.af.default
            configuration = made
            return made
        }
    }

    // MARK: All requests

    /// Calls `action` on the root queue with the requests that were started and have not ended.
    @preconcurrency
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { [active] in action(active.all) }
    }

    /// Cancels the requests that were started and have not ended, then calls `completion`.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async { completion() } }
        }
    }

    /// Does the same as ``cancelAllRequests(completingOnQueue:completion:)``; some documents use this form.
    @preconcurrency
    public func cancelAllRequests(completingOn queue: DispatchQueue, completion: (@Sendable () -> Void)? = nil) {
        cancelAllRequests(completingOnQueue: queue, completion: completion)
    }

    // MARK: Services for requests

    /// Returns the session's engine with its connections and threads, which the first request creates.
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

    /// Returns the session's TLS rules, which the first request creates.
    ///
    /// - Throws: `TransferError` when the file of the authorities cannot be read.
    func tlsRules() throws -> TLSRules {
        try lazyRules.withLock { rules in
            if let rules { return rules }
            let made = try settings.tlsRules()
            rules = made
            lastSettings.withLock { $0.adopt(made) }
            return made
        }
    }

    /// Returns the settings that the session and one of its requests ask for.
    func exchangeSettings(of request: URLRequest) -> Shared<ExchangeSettings> {
        lastSettings.withLock { $0.settings(of: request, in: settings) }
    }

    /// The monitors of events; `nil` without an observer, so that no events are created.
    var monitors: CompositeEventMonitor? {
        if isObserved { return eventMonitor }
        return RequestNotifications.areObserved && !eventMonitor.monitors.isEmpty ? eventMonitor : nil
    }

    /// Returns a new request, which is prepared at once if the session is set to do so.
    func made<Made: Request>(_ request: Made) -> Made {
        if settings.requestSetup == .eager { request.send(.setUp) }
        return request
    }

    var nextTaskNumber: Int { lastTask.add(1, ordering: .relaxed).newValue }

    func chain(for request: Request) -> InterceptorChain {
        let own = request.read { $0.own.interceptors }
        guard let shared = settings.interceptor else { return InterceptorChain(interceptors: own) }
        return InterceptorChain(interceptors: [shared] + own)
    }

    /// Checks that the request may use the network. An unknown state of the network is no reason to refuse.
    ///
    /// - Throws: `URLError.resourceUnavailable` where only the cache may answer. `URLError.dataNotAllowed` where the
    ///   only route is a cellular link that the request must not use.
    func checkAccess(of request: URLRequest) throws {
        // A stored response would have been found before.
        if cachePolicy(of: request) == .returnCacheDataDontLoad { throw URLError(.resourceUnavailable) }
        guard !settings.allowsCellularAccess || !request.allowsCellularAccess else { return }
        let host = request.url?.host ?? ""
        let isLocal = host == "localhost" || IPAddress(host)?.isLoopback == true
        guard !isLocal, NetworkReachabilityManager()?.isReachableOnCellular == true else { return }
        throw URLError(.dataNotAllowed)
    }
}
