import Dispatch
import Foundation
import FoundationNetworking

/// The end of a request, from which its responses are made.
struct EndedRequest: Sendable {
    let request: URLRequest?
    let answer: AnswerFacts
    let error: AFError?
    let body: Body

    var response: HTTPURLResponse? { answer.response }
    var metrics: TransferTaskMetrics? { answer.metrics }

    enum Body: Sendable {
        case data(Data?)
        case file(URL?, resumeData: Data?)
    }

    var data: Data? {
        if case .data(let data) = body { return data }
        return nil
    }

    var fileURL: URL? {
        if case .file(let url, _) = body { return url }
        return nil
    }

    var resumeData: Data? {
        if case .file(_, let data) = body { return data }
        return nil
    }
}

/// The response and the metrics of an attempt. They are converted to Foundation's forms on demand, as that is
/// expensive.
enum AnswerFacts: Sendable {
    case made(HTTPURLResponse?, TransferTaskMetrics?)
    case attempt(AttemptRecord)

    var response: HTTPURLResponse? {
        switch self {
        case .made(let response, _): response
        case .attempt(let record): record.response
        }
    }

    var metrics: TransferTaskMetrics? {
        switch self {
        case .made(_, let metrics): metrics
        case .attempt(let record): record.metrics
        }
    }
}

/// The place where a response is delivered.
enum ResponseTarget: Sendable {
    case queue(DispatchQueue)
    /// Responses are delivered at once, on any thread. This suits handlers that only wake a waiting task.
    case direct

    func deliver(_ handOver: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: handOver)
        case .direct: handOver()
        }
    }
}

/// A handler that waits for the end of a request.
struct ResponseHandler: Sendable {
    /// Whether `settle` takes no time and does not call the program's code, so that any thread may call it.
    let isQuick: Bool
    let settle: @Sendable (EndedRequest) -> SettledResponse
}

/// A response that is serialized and not yet delivered; a retry may still replace it.
struct SettledResponse: Sendable {
    /// The failure of the serialization, if the request itself succeeded.
    let failure: AFError?
    /// The event for the monitors.
    let parsed: MonitorEvent?
    /// Delivers the response, with another failure if a retrier gave one.
    let deliver: @Sendable (AFError?) -> Void
}
