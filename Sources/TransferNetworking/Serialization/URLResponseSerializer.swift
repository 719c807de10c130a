public import Foundation
public import FoundationNetworking

/// Where the file is, without reading it.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    public init() {}

    /// - Throws: The request's failure, or `inputFileNil`.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Where the file is, without reading it.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
