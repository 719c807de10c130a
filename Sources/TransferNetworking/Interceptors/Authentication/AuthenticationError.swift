/// Why an ``AuthenticationInterceptor`` has no credential for a request.
public enum AuthenticationError: Error, Sendable {
    /// None was set.
    case missingCredential
    /// Too many refreshes were begun in the time of the refresh window.
    case excessiveRefresh
}

/// An authenticator let go of the completion of its refresh without calling it.
///
/// Not a case of ``AuthenticationError``, whose two cases programs switch over.
public struct AbandonedRefreshError: Error, Equatable {
    public init() {}
}
