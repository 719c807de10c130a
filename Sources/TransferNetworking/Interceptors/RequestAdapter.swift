public import Foundation
public import FoundationNetworking

/// An adapter that changes URL requests before they are sent.
///
/// Requests call the form with the state, which by default calls the other form. A ``RequestInterceptor`` needs only
/// one of the two.
@preconcurrency
public protocol RequestAdapter: Sendable {
    /// Changes a URL request.
    ///
    /// - Parameters:
    ///   - urlRequest: The URL request as it was created, or as the previous adapter left it.
    ///   - session: The session of the request.
    ///   - completion: Must be called once, on any thread, with the changed URL request or an error. An error fails the
    ///     request with `AFError.requestAdaptationFailed`.
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)

    /// Changes a URL request and knows which request it belongs to; calls the other form by default.
    ///
    /// - Parameters:
    ///   - urlRequest: The URL request as it was created, or as the previous adapter left it.
    ///   - state: The request's identifier and its session.
    ///   - completion: Must be called once, on any thread, with the changed URL request or an error.
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)
}

extension RequestAdapter {
    /// Calls the form without the state.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { adapt(urlRequest, for: state.session, completion: completion) }
}

/// The facts about a request that an adapter gets beside the URL request.
public struct RequestAdapterState: Sendable {
    /// The `id` of the `Request`, the same for all of its attempts.
    public let requestID: UUID
    /// The session of the `Request`.
    public let session: Session

    /// Creates a state. Adapters receive it from their request; this initialiser serves to call an adapter directly.
    public init(requestID: UUID, session: Session) {
        self.requestID = requestID
        self.session = session
    }
}

typealias AdaptCompletion = @Sendable (Result<URLRequest, any Error>) -> Void
