/// The reason why an ``AuthenticationInterceptor`` has no credential for a request.
public enum AuthenticationError: Error, Sendable {
    /// No credential was set.
    case missingCredential
    /// Too many refreshes began within the refresh window.
    case excessiveRefresh
}

/// The error of a refresh whose completion an authenticator released without calling it.
///
/// The error is no case of ``AuthenticationError``, as programs switch over the two cases of that type.
public struct AbandonedRefreshError: Error, Equatable {
    /// Creates the error.
    public init() {}
}
