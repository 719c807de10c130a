public import Foundation

// Documents write requests of the default session with the module's name too.
extension Alamofire {
    /// `AF.request` with parameters put in by an encoding.
    @preconcurrency
    public static func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
    ) -> DataRequest { AF.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers) }

    /// `AF.request`.
    public static func request(_ urlRequest: any URLRequestConvertible) -> DataRequest { AF.request(urlRequest) }

    /// `AF.download` with parameters put in by an encoding.
    @preconcurrency
    public static func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        AF.download(
            url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
    }

    /// `AF.download`.
    @preconcurrency
    public static func download(
        _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { AF.download(urlRequest, to: destination) }

    /// `AF.download` of the rest of a file.
    @preconcurrency
    public static func download(
        resumingWith resumeData: Data, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { AF.download(resumingWith: resumeData, to: destination) }

    /// `AF.upload` of bytes.
    public static func upload(
        _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(data, to: url, method: method, headers: headers) }

    /// `AF.upload` of a file.
    public static func upload(
        _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(fileURL, to: url, method: method, headers: headers) }

    /// `AF.upload` of a stream.
    public static func upload(
        _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(stream, to: url, method: method, headers: headers) }
}
