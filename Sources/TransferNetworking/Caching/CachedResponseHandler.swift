import Foundation
public import FoundationNetworking

/// Decides what of the answers to data requests is stored in the session's cache.
///
/// Asked only about answers that may be stored (RFC 9111 §3) and came whole; what the network confirmed (304) isn't
/// stored anew.
@preconcurrency
public protocol CachedResponseHandler: Sendable {
    /// Called on the session's root queue before the request comes to its end; the request waits for the answer.
    ///
    /// - Parameters:
    ///   - task: The attempt that brought the answer.
    ///   - response: What would be stored.
    ///   - completion: To be called once, on any thread: with what is stored, or `nil` to store nothing. Its
    ///     `storagePolicy` is kept to.
    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// The usual handlers.
public struct ResponseCacher: CachedResponseHandler {
    public enum Behavior: Sendable {
        /// Stores the answer as it is.
        case cache
        /// Stores nothing.
        case doNotCache
        /// Changes what is stored; `nil` stores nothing.
        @preconcurrency
        case modify(@Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)
    }

    public static let cache = ResponseCacher(behavior: .cache)
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    public let behavior: Behavior

    public init(behavior: Behavior) { self.behavior = behavior }

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
    /// Stores answers as they are.
    public static var cache: ResponseCacher { .cache }
    /// Stores nothing.
    public static var doNotCache: ResponseCacher { .doNotCache }

    /// Changes what is stored; `nil` stores nothing.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher { ResponseCacher(behavior: .modify(closure)) }
}
