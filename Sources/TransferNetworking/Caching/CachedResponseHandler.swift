import Foundation
public import FoundationNetworking

/// A handler that decides how responses to data requests are stored in the session's cache.
///
/// The handler is called only for complete responses that may be stored (RFC 9111 §3). A response that the server
/// confirmed (304) is not stored again.
@preconcurrency
public protocol CachedResponseHandler: Sendable {
    /// Decides how a response is stored. Called on the session's root queue before the request ends; the request waits
    /// for the completion.
    ///
    /// - Parameters:
    ///   - task: The attempt that brought the response.
    ///   - response: The response that would be stored.
    ///   - completion: Must be called on any thread, within the time-out of the request
    ///     (``SessionSettings/requestTimeout``), else nothing is stored; only the first call counts. Its argument is
    ///     the response to store, or `nil` to store nothing. The response's `storagePolicy` is respected.
    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// A handler that stores all responses, stores none, or changes them.
public struct ResponseCacher: CachedResponseHandler {
    /// The treatment of responses that may be stored.
    public enum Behavior: Sendable {
        /// Stores the response unchanged.
        case cache
        /// Stores nothing.
        case doNotCache
        /// Changes the response before it is stored; `nil` stores nothing.
        @preconcurrency
        case modify(@Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)
    }

    /// A handler that stores responses unchanged.
    public static let cache = ResponseCacher(behavior: .cache)
    /// A handler that stores nothing.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// The treatment of responses that may be stored.
    public let behavior: Behavior

    /// Creates a handler with a behavior.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Stores, drops or changes the response as ``behavior`` specifies, and calls `completion` before it returns.
    @preconcurrency
    public func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        switch behavior {
        case .cache: completion(response)
        case .doNotCache: completion(nil)
        case .modify(let closure): completion(closure(task, response))
        }
    }
}

extension CachedResponseHandler where Self == ResponseCacher {
    /// A handler that stores responses unchanged.
    public static var cache: ResponseCacher { .cache }
    /// A handler that stores nothing.
    public static var doNotCache: ResponseCacher { .doNotCache }

    /// Returns a handler that changes responses before they are stored; `nil` stores nothing.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher { ResponseCacher(behavior: .modify(closure)) }
}
