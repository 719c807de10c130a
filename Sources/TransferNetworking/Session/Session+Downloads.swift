public import Foundation
import FoundationNetworking

// Requests whose answers go to files.
extension Session {
    /// A request whose answer goes to a file.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoding`.
    ///   - interceptor: Called before the session's.
    ///   - destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    public func download(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            parts(convertible, method, headers, requestModifier, parameters, encoding), interceptor: interceptor,
            to: destination)
    }

    /// A request whose answer goes to a file.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoder`.
    ///   - interceptor: Called before the session's.
    ///   - destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    public func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            parts(convertible, method, headers, requestModifier, parameters, encoder), interceptor: interceptor,
            to: destination)
    }

    /// A request whose answer goes to a file.
    ///
    /// - Parameter destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    public func download(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(
            downloadable: .request(convertible), session: self, interceptor: interceptor, destination: destination)
    }

    /// Goes on with a download, also one of an earlier process.
    ///
    /// Bytes are only continued when the server confirms that the file is still the same; else it starts again, and
    /// never mixes two versions.
    ///
    /// - Parameter data: From ``DownloadRequest/resumeData``.
    @preconcurrency
    public func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(
            downloadable: .resumeData(data), session: self, interceptor: interceptor, destination: destination)
    }
}
