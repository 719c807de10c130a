public import Foundation
public import FoundationNetworking

/// A response whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>
public typealias AFResult<Success> = Result<Success, AFError>

/// What came of a `DataRequest` or `UploadRequest`, in the form that a handler asked for.
public struct DataResponse<Success, Failure: Error> {
    /// The URL request that was sent last.
    public let request: URLRequest?
    public let response: HTTPURLResponse?
    /// The body as it came.
    public let data: Data?
    /// Seconds.
    public let serializationDuration: TimeInterval
    public let result: Result<Success, Failure>

    public init(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.request = request
        self.response = response
        self.data = data
        self.serializationDuration = serializationDuration
        self.result = result
    }

    public var value: Success? { try? result.get() }

    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse: CustomStringConvertible {
    public var description: String { "\(result)" }
}

/// What came of a `DownloadRequest`, in the form that a handler asked for.
public struct DownloadResponse<Success, Failure: Error> {
    public let request: URLRequest?
    public let response: HTTPURLResponse?
    /// Where the file is.
    public let fileURL: URL?
    /// What the download can be continued with.
    public let resumeData: Data?
    /// Seconds.
    public let serializationDuration: TimeInterval
    public let result: Result<Success, Failure>

    public init(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, resumeData: Data?,
        serializationDuration: TimeInterval, result: Result<Success, Failure>
    ) {
        self.request = request
        self.response = response
        self.fileURL = fileURL
        self.resumeData = resumeData
        self.serializationDuration = serializationDuration
        self.result = result
    }

    public var value: Success? { try? result.get() }

    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

extension DownloadResponse: Sendable where Success: Sendable {}

extension DownloadResponse: CustomStringConvertible {
    public var description: String { "\(result)" }
}
