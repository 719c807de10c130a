import Foundation
import FoundationNetworking

// Requests whose answers are kept in memory or handed on as they come.
extension Session {
    /// A request whose answer is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoding`: into the query of GET, HEAD and DELETE, else into the body.
    ///   - interceptor: Called before the session's.
    ///   - requestModifier: Changes the URL request before the parameters are put in.
    @preconcurrency
    public func request(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            parts(convertible, method, headers, requestModifier, parameters, encoding), interceptor: interceptor)
    }

    /// A request whose answer is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoder`: into the query of GET, HEAD and DELETE, else into the body.
    ///   - interceptor: Called before the session's.
    ///   - requestModifier: Changes the URL request before the parameters are put in.
    @preconcurrency
    public func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(parts(convertible, method, headers, requestModifier, parameters, encoder), interceptor: interceptor)
    }

    /// A request whose answer is kept in memory; it starts when a response handler is added.
    public func request(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        DataRequest(convertible: convertible, session: self, interceptor: interceptor)
    }

    /// A request whose answer is handed on piece by piece.
    ///
    /// - Parameters:
    ///   - automaticallyCancelOnStreamError: Whether a piece that can't be serialized ends the request.
    ///   - interceptor: Called before the session's.
    @preconcurrency
    public func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            parts(convertible, method, headers, requestModifier, parameters, encoder),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor)
    }

    /// A request whose answer is handed on piece by piece.
    @preconcurrency
    public func streamRequest(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor)
    }

    /// A request whose answer is handed on piece by piece.
    public func streamRequest(
        _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataStreamRequest {
        DataStreamRequest(
            convertible: convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            session: self, interceptor: interceptor)
    }

    // MARK: Parts

    func parts<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: RequestModifier?,
        _ parameters: Parameters?, _ encoder: any ParameterEncoder
    ) -> RequestParts {
        var parts = RequestParts(url: url, method: method, headers: headers, modify: modify)
        if let parameters { parts.encode = { try encoder.encode(parameters, into: $0) } }
        return parts
    }

    func parts(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: RequestModifier?,
        _ parameters: Parameters?, _ encoding: any ParameterEncoding
    ) -> RequestParts {
        var parts = RequestParts(url: url, method: method, headers: headers, modify: modify)
        if let parameters { parts.encode = { try encoding.encode($0, with: parameters) } }
        return parts
    }
}
