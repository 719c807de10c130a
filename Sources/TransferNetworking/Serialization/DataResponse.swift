public import Foundation
public import FoundationNetworking

/// A response whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>
/// A response of a download whose failures are `AFError`s.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>
/// A result whose failures are `AFError`s.
public typealias AFResult<Success> = Result<Success, AFError>

/// The result of a `DataRequest` or `UploadRequest`, in the form that a handler asked for.
public struct DataResponse<Success, Failure: Error> {
    /// The URL request that was sent last; `nil` if none could be created.
    public let request: URLRequest?
    /// The head of the response; `nil` if there was none.
    public var response: HTTPURLResponse? { answer.response }
    /// The unserialized body.
    public let data: Data?
    /// The metrics of the last attempt; `nil` if the network was never reached.
    public var metrics: TransferTaskMetrics? { answer.metrics }
    /// The duration of the serialization, in seconds.
    public let serializationDuration: TimeInterval
    private let answer: AnswerFacts
    /// The value that the serializer made of the response, or the failure.
    public let result: Result<Success, Failure>

    /// The value, if there is one.
    public var value: Success? {
        guard case .success(let value) = result else { return nil }
        return value
    }

    /// The failure, if there is one.
    public var error: Failure? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// Creates a response with these values.
    public init(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, metrics: TransferTaskMetrics?,
        serializationDuration: TimeInterval, result: Result<Success, Failure>
    ) {
        self.init(
            request: request, answer: .made(response, metrics), data: data,
            serializationDuration: serializationDuration, result: result)
    }

    init(
        request: URLRequest?, answer: AnswerFacts, data: Data?, serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.request = request
        self.answer = answer
        self.data = data
        self.serializationDuration = serializationDuration
        self.result = result
    }
}

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse {
    /// Returns the response with a transformed value; a failure is kept.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// Returns the response with a transformed value, or with the error that `transform` throws; a failure is kept.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

    /// Returns the response with a transformed failure; a value is kept.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DataResponse<Success, NewFailure> { with(result.mapError(transform)) }

    /// Returns the response with a transformed failure, or with the error that `transform` throws; a value is kept.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DataResponse<Success, any Error> { with(result.tryMapError(transform)) }

    private func with<NewSuccess, NewFailure>(
        _ result: Result<NewSuccess, NewFailure>
    ) -> DataResponse<NewSuccess, NewFailure> {
        DataResponse<NewSuccess, NewFailure>(
            request: request, answer: answer, data: data,
            serializationDuration: serializationDuration, result: result)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result: `success(…)` or `failure(…)`.
    public var description: String { result.text }

    /// The whole response, one topic a line. Credentials, cookies, signed queries and the body of the request are left
    /// out.
    public var debugDescription: String {
        var report = ResponseReport()
        report.add(request)
        report.add(response, body: data)
        report.add(metrics, serializationDuration)
        report.add("Result", result.text)
        return report.text
    }
}

extension Result {
    /// The description of a result, for both kinds of responses.
    var text: String {
        switch self {
        case .success(let value): "success(\(value))"
        case .failure(let error): "failure(\(error))"
        }
    }

    func tryMap<NewSuccess>(_ transform: (Success) throws -> NewSuccess) -> Result<NewSuccess, any Error> {
        Result<NewSuccess, any Error> { try transform(get()) }
    }

    func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> Result<Success, any Error> {
        switch self {
        case .success(let value): .success(value)
        case .failure(let error): Result<Success, any Error> { throw try transform(error) }
        }
    }
}
