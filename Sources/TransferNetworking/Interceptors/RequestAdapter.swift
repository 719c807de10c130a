public import Foundation
public import FoundationNetworking

/// Changes URL requests before they go out.
///
/// Requests call the form with the state, which calls the other one unless it's written. A ``RequestInterceptor`` needs
/// only one of the two.
@preconcurrency
public protocol RequestAdapter: Sendable {
    /// - Parameters:
    ///   - urlRequest: As it was made, or as the adapter before left it.
    ///   - session: Whose request it is.
    ///   - completion: To be called once, on any thread, with the changed request or why there is none. An error fails
    ///     the request with `AFError.requestAdaptationFailed`.
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)

    /// The form that also knows which request it is; unless written, it calls the other one.
    ///
    /// - Parameters:
    ///   - urlRequest: As it was made, or as the adapter before left it.
    ///   - state: The request and its session.
    ///   - completion: As of the other form.
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)
}

extension RequestAdapter {
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adapt(urlRequest, for: state.session, completion: completion) }
}

/// Facts for an adapter about the request, beside the URL request.
public struct RequestAdapterState: Sendable {
    /// The `id` of the `Request`, the same for all of its attempts.
    public let requestID: UUID
    /// The session of the `Request`.
    public let session: Session

    /// Adapters get it from their request; this is for calling one by hand.
    public init(requestID: UUID, session: Session) {
        self.requestID = requestID
        self.session = session
    }
}

typealias AdaptCompletion = @Sendable (Result<URLRequest, any Error>) -> Void
