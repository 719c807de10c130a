public import Foundation
import FoundationNetworking

extension Session {
    /// A request whose answer is kept in memory. It starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - url: `http` or `https`.
    ///   - interceptor: Called before the session's.
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        request(RequestComponents(url: url, method: method, headers: headers), interceptor: interceptor)
    }

    /// A request whose answer is kept in memory.
    public func request(
        _ urlRequest: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        DataRequest(convertible: urlRequest, session: self, interceptor: interceptor)
    }

    /// A request whose answer goes to a file.
    ///
    /// - Parameter destination: Where the file belongs; a file in the temporary folder by default.
    public func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            RequestComponents(url: url, method: method, headers: headers), interceptor: interceptor, to: destination)
    }

    /// A request whose answer goes to a file.
    public func download(
        _ urlRequest: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(
            downloadable: .request(urlRequest), session: self, interceptor: interceptor, destination: destination)
    }

    /// Goes on with a download, also one of an earlier process.
    ///
    /// Bytes are only continued when the server confirms that the file is still the same; else it starts again, and
    /// never mixes two versions.
    ///
    /// - Parameter data: From ``DownloadRequest/resumeData``.
    public func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(
            downloadable: .resumeData(data), session: self, interceptor: interceptor, destination: destination)
    }

    /// Sends bytes.
    public func upload(
        _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        upload(data, with: RequestComponents(url: url, method: method, headers: headers), interceptor: interceptor)
    }

    /// Sends bytes.
    public func upload(
        _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        UploadRequest(.data(data), convertible: convertible, session: self, interceptor: interceptor)
    }

    /// Sends a file, straight from the disk.
    public func upload(
        _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        upload(fileURL, with: RequestComponents(url: url, method: method, headers: headers), interceptor: interceptor)
    }

    /// Sends a file, straight from the disk.
    public func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        UploadRequest(.file(fileURL), convertible: convertible, session: self, interceptor: interceptor)
    }
}

/// A request as its parts.
struct RequestComponents: URLRequestConvertible {
    let url: any URLConvertible
    let method: HTTPMethod
    let headers: HTTPHeaders?

    func asURLRequest() throws -> URLRequest { try URLRequest(url: url, method: method, headers: headers) }
}
