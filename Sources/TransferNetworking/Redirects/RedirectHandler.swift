import Foundation
public import FoundationNetworking

/// Decides whether and how redirects are followed (RFC 9110 §15.4).
@preconcurrency
public protocol RedirectHandler: Sendable {
    /// Called on the session's root queue for each redirect (301, 302, 303, 307, 308), unless the request was cancelled.
    ///
    /// The request that is handed back is sent as it is: its URL, method, fields and `httpBody`. A body that isn't in
    /// `httpBody` (a file, a stream, a form) is sent again where the proposal would send it. Userinfo in its URL becomes
    /// a Basic Authorization field. Cookies of the session's store are added for each hop.
    ///
    /// - Parameters:
    ///   - task: The attempt that is redirected.
    ///   - request: What would follow. Across origins it carries nothing that identifies or authorises the user.
    ///   - response: The answer that redirects.
    ///   - completion: To be called on any thread, at any time; only the first call counts: with the request that follows, or `nil` to take the
    ///     redirecting answer as the final one.
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void)
}

/// The usual redirect handlers.
public struct Redirector: RedirectHandler {
    public enum Behavior: Sendable {
        /// Follows the redirect as the answer defines it.
        case follow
        /// Takes the redirecting answer as the final one.
        case doNotFollow
        /// Changes what follows; `nil` takes the redirecting answer as the final one.
        @preconcurrency
        case modify(@Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?)
    }

    public static let follow = Redirector(behavior: .follow)
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    public let behavior: Behavior

    public init(behavior: Behavior) { self.behavior = behavior }

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
    /// Follows redirects as the answers define them.
    public static var follow: Redirector { .follow }
    /// Takes redirecting answers as the final ones.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// Changes what follows.
    @preconcurrency
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector { Redirector(behavior: .modify(closure)) }
}
