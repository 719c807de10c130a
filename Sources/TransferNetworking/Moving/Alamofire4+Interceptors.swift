public import FoundationNetworking

// The compiler names the current forms for types that only implement those of Alamofire 4.

extension RequestAdapter {
    /// Requires an adapter to implement this form.
    @available(*, unavailable, message: "an adapter hands its request on: adapt(_:for:completion:)")
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {}
}

extension RequestRetrier {
    /// Requires a retrier to implement this form.
    @available(*, unavailable, message: "a retrier decides by RetryResult: retry(_:for:dueTo:completion:)")
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {}
}
