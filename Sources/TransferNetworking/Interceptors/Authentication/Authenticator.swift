public import FoundationNetworking

/// The credential that authenticates requests: a token and what belongs to it.
@preconcurrency
public protocol AuthenticationCredential {
    /// Whether it must be refreshed before it's put on another request, as it expires soon or has expired.
    var requiresRefresh: Bool { get }
}

/// Knows how a service authenticates requests, for an ``AuthenticationInterceptor``.
///
/// The authenticator's functions may be called on several threads at a time, never while a lock of the interceptor is
/// held.
@preconcurrency
public protocol Authenticator: AnyObject, Sendable {
    /// What authenticates requests of the service.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Puts the credential on a request, usually in its `Authorization` field.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Gets a new credential. Not called again before it has ended.
    ///
    /// Its own requests must go without the interceptor: they would wait for the refresh that waits for them.
    ///
    /// - Parameters:
    ///   - credential: The one that is to be replaced.
    ///   - session: Of the request that needs the credential.
    ///   - completion: To be called once, on any thread; later calls don't count. The interceptor takes the new
    ///     credential over, and fails what waits with an error. Letting go of the closure without a call fails it with
    ///     ``AbandonedRefreshError``.
    func refresh(
        _ credential: Credential, for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void)

    /// Whether the server refused the request for want of authentication (often a 401).
    ///
    /// A service that never takes a credential back before it expires needs nothing but `false`.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether this credential, and not an earlier one, was put on the request.
    ///
    /// Asked for requests that failed with an authentication error: one with an earlier credential is made again with
    /// the current one, without a refresh. A service that never takes a credential back needs nothing but `true`.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
