public import Foundation
public import FoundationNetworking
import TransferCore

/// The result of a `DownloadRequest`, in the form that a handler asked for.
public struct DownloadResponse<Success, Failure: Error> {
    /// The URL request that was sent last; `nil` when none could be made.
    public let request: URLRequest?
    /// The head of the answer; `nil` when there was none.
    public var response: HTTPURLResponse? { answer.response }
    /// Where the file is, once it's whole.
    public let fileURL: URL?
    /// The data that the download can be continued with, after a failure or a cancellation that asked for it.
    public let resumeData: Data?
    /// Measurements of the last attempt; `nil` when the network was never reached.
    public var metrics: TransferTaskMetrics? { answer.metrics }
    /// How long the serializer took, in seconds.
    public let serializationDuration: TimeInterval
    private let answer: AnswerFacts
    /// The value that the serializer made of the file, or why there is nothing.
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
    /// The same response with another value; a failure stays.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DownloadResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// The same response with another value, or with what `transform` throws; a failure stays.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

    /// The same response with another failure; a value stays.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DownloadResponse<Success, NewFailure> { with(result.mapError(transform)) }

    /// The same response with another failure, or with what `transform` throws; a value stays.
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

    /// Everything that is known, one topic a line; without credentials, cookies, signed queries and the body of the
    /// request.
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
