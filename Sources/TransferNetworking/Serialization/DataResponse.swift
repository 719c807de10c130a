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
    /// The URL request that was sent last; `nil` when none could be made.
    public let request: URLRequest?
    /// The head of the answer; `nil` when there was none.
    public var response: HTTPURLResponse? { answer.response }
    /// The body as it came.
    public let data: Data?
    /// Measurements of the last attempt; `nil` when the network was never reached.
    public var metrics: TransferTaskMetrics? { answer.metrics }
    /// How long the serializer took, in seconds.
    public let serializationDuration: TimeInterval
    private let answer: AnswerFacts
    /// The value that the serializer made of the answer, or why there is nothing.
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
    /// The same response with another value; a failure stays.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// The same response with another value, or with what `transform` throws; a failure stays.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

    /// The same response with another failure; a value stays.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DataResponse<Success, NewFailure> { with(result.mapError(transform)) }

    /// The same response with another failure, or with what `transform` throws; a value stays.
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

    /// Everything that is known, one topic a line; without credentials, cookies, signed queries and the body of the
    /// request.
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
    /// What both kinds of response show of their result.
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
