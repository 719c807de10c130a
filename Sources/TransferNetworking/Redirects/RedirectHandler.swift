import Foundation
public import FoundationNetworking

/// A handler that decides whether and how redirects are followed (RFC 9110 §15.4).
@preconcurrency
public protocol RedirectHandler: Sendable {
    /// Decides about a redirect (301, 302, 303, 307, 308). Called on the session's root queue, unless the request was
    /// cancelled.
    ///
    /// The request that the handler returns is sent unchanged: its URL, method, fields and `httpBody`. A body outside
    /// `httpBody` (a file, a stream, a form) is sent again if the proposal would send it. Userinfo in the URL becomes a
    /// Basic Authorization field. Cookies of the session's store are added for each hop.
    ///
    /// - Parameters:
    ///   - task: The attempt that is redirected.
    ///   - request: The proposed request. Across origins it carries nothing that identifies or authorises the user.
    ///   - response: The redirecting response.
    ///   - completion: Must be called on any thread, within the time-out of the request
    ///     (``SessionSettings/requestTimeout``); only the first call counts. Its argument is the request to follow
    ///     with, or `nil` to accept the redirecting response as the final one.
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void)
}

/// A handler that follows all redirects, follows none, or changes the requests that follow them.
public struct Redirector: RedirectHandler {
    /// The treatment of redirects.
    public enum Behavior: Sendable {
        /// Follows the redirect as the response defines it.
        case follow
        /// Accepts the redirecting response as the final one.
        case doNotFollow
        /// Changes the request that follows; `nil` accepts the redirecting response as the final one.
        @preconcurrency
        case modify(@Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?)
    }

    /// A handler that follows redirects as the responses define them.
    public static let follow = Redirector(behavior: .follow)
    /// A handler that accepts redirecting responses as the final ones.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// The treatment of redirects.
    public let behavior: Behavior

    /// Creates a handler with a behavior.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Follows, refuses or changes the redirect as ``behavior`` specifies, and calls `completion` before it returns.
    @preconcurrency
    public func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void
    ) {
        switch behavior {
        case .follow: completion(request)
        case .doNotFollow: completion(nil)
        case .modify(let closure): completion(closure(task, request, response))
        }
    }
}

extension RedirectHandler where Self == Redirector {
    /// A handler that follows redirects as the responses define them.
    public static var follow: Redirector { .follow }
    /// A handler that accepts redirecting responses as the final ones.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// Returns a handler that changes the requests that follow redirects.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector { Redirector(behavior: .modify(closure)) }
}
