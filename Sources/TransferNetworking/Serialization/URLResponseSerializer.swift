public import Foundation
public import FoundationNetworking

/// A serializer that returns the URL of the file without reading it.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Creates a serializer.
    public init() {}

    /// Returns the URL of the file.
    ///
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
    /// A serializer that returns the URL of the file without reading it.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
