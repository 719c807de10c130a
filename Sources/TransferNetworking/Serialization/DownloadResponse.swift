public import Foundation
public import FoundationNetworking
import TransferCore

/// The result of a `DownloadRequest`, in the form that a handler asked for.
public struct DownloadResponse<Success, Failure: Error> {
    /// The URL request that was sent last; `nil` if none could be created.
    public let request: URLRequest?
    /// The head of the response; `nil` if there was none.
    public var response: HTTPURLResponse? { answer.response }
    /// The URL of the file, once it is complete.
    public let fileURL: URL?
    /// The data from which the download can be continued. They exist after a failure, and after a cancellation that
    /// asked for them.
    public let resumeData: Data?
    /// The metrics of the last attempt; `nil` if the network was never reached.
    public var metrics: TransferTaskMetrics? { answer.metrics }
    /// The duration of the serialization, in seconds.
    public let serializationDuration: TimeInterval
    private let answer: AnswerFacts
    /// The value that the serializer made of the file, or the failure.
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
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, resumeData: Data?,
        metrics: TransferTaskMetrics?, serializationDuration: TimeInterval, result: Result<Success, Failure>
    ) {
        self.init(
            request: request, answer: .made(response, metrics), fileURL: fileURL, resumeData: resumeData,
            serializationDuration: serializationDuration, result: result)
    }

    init(
        request: URLRequest?, answer: AnswerFacts, fileURL: URL?, resumeData: Data?,
        serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.request = request
        self.answer = answer
        self.fileURL = fileURL
        self.resumeData = resumeData
        self.serializationDuration = serializationDuration
        self.result = result
    }
}

extension DownloadResponse: Sendable where Success: Sendable {}

extension DownloadResponse {
    /// Returns the response with a transformed value; a failure is kept.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DownloadResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// Returns the response with a transformed value, or with the error that `transform` throws; a failure is kept.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

    /// Returns the response with a transformed failure; a value is kept.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DownloadResponse<Success, NewFailure> { with(result.mapError(transform)) }

    /// Returns the response with a transformed failure, or with the error that `transform` throws; a value is kept.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DownloadResponse<Success, any Error> { with(result.tryMapError(transform)) }

    private func with<NewSuccess, NewFailure>(
        _ result: Result<NewSuccess, NewFailure>
    ) -> DownloadResponse<NewSuccess, NewFailure> {
        DownloadResponse<NewSuccess, NewFailure>(
            request: request, answer: answer, fileURL: fileURL, resumeData: resumeData,
            serializationDuration: serializationDuration, result: result)
    }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result: `success(…)` or `failure(…)`.
    public var description: String { result.text }

    /// The whole response, one topic a line. Credentials, cookies, signed queries and the body of the request are left
    /// out.
    public var debugDescription: String {
        var report = ResponseReport()
        report.add(request)
        report.add(response)
        report.add("File", fileURL?.path ?? "none")
        report.add("Resume data", resumeData.map { "\(CountText.bytes($0.count))" } ?? "none")
        report.add(metrics, serializationDuration)
        report.add("Result", result.text)
        return report.text
    }
}
