public import Foundation

// The documentation of Alamofire also calls the default session's requests by the name of the module.
extension Alamofire {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The default session, `Session.default`, under its name in Alamofire's module.
    public static let AF = TransferNetworking.Session.default

    /// Does the same as `AF.request` with parameters that an encoding adds.
    @preconcurrency
    public static func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
    ) -> DataRequest { AF.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers) }

    /// Does the same as `AF.request`.
    public static func request(_ urlRequest: any URLRequestConvertible) -> DataRequest { AF.request(urlRequest) }

    /// Does the same as `AF.download` with parameters that an encoding adds.
    @preconcurrency
    public static func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        AF.download(
            url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
    }

    /// Does the same as `AF.download`.
    @preconcurrency
    public static func download(
        _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { AF.download(urlRequest, to: destination) }

    /// Does the same as `AF.download` of the rest of a file.
    @preconcurrency
    public static func download(
        resumingWith resumeData: Data, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { AF.download(resumingWith: resumeData, to: destination) }

    /// Does the same as `AF.upload` of bytes.
    public static func upload(
        _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(data, to: url, method: method, headers: headers) }

    /// Does the same as `AF.upload` of a file.
    public static func upload(
        _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(fileURL, to: url, method: method, headers: headers) }

    /// Does the same as `AF.upload` of a stream.
    public static func upload(
        _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
    ) -> UploadRequest { AF.upload(stream, to: url, method: method, headers: headers) }
}
