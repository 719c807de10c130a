public import FoundationNetworking

// A type that has the forms of Alamofire 4 alone is told the ones of today.

extension RequestAdapter {
    @available(*, unavailable, message: "an adapter hands its request on: adapt(_:for:completion:)")
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {}
}

extension RequestRetrier {
    @available(*, unavailable, message: "a retrier decides by RetryResult: retry(_:for:dueTo:completion:)")
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {}
}
