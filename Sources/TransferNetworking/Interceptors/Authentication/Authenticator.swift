public import FoundationNetworking

/// A credential that authenticates requests: a token and its attributes.
@preconcurrency
public protocol AuthenticationCredential {
    /// Whether the credential must be refreshed before it is added to another request, as it expires soon or has
    /// expired.
    var requiresRefresh: Bool { get }
}

/// The authentication of a service's requests, for an ``AuthenticationInterceptor``.
///
/// The functions may be called on several threads at a time, but never while the interceptor holds a lock.
@preconcurrency
public protocol Authenticator: AnyObject, Sendable {
    /// The type of the service's credentials.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Adds the credential to a request, usually in its `Authorization` field.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Obtains a new credential. The next call follows only after this refresh has ended.
    ///
    /// The authenticator's own requests must not use the interceptor: they would wait for the refresh that waits for
    /// them.
    ///
    /// - Parameters:
    ///   - credential: The credential to be replaced.
    ///   - session: The session of the request that needs the credential.
    ///   - completion: Must be called once, on any thread; later calls have no effect. The interceptor adopts the new
    ///     credential. An error fails all waiting requests. Releasing the closure without a call fails them with
    ///     ``AbandonedRefreshError``.
    func refresh(
        _ credential: Credential, for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void)

    /// Whether the server refused the request for want of authentication (often with a 401).
    ///
    /// A service that never revokes a credential before it expires may always return `false`.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether this credential, and not an earlier one, was added to the request.
    ///
    /// Called for requests that failed with an authentication error. A request with an earlier credential is retried
    /// with the current one, without a refresh. For a service that never revokes a credential, `true` is sufficient.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
