import Dispatch
import Foundation
import FoundationNetworking

/// What a request ended with, before it's made into a response.
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

/// What is known of an answer; in the forms that programs expect when they ask, as making those has its price.
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

/// Where a response is handed over.
enum ResponseTarget: Sendable {
    case queue(DispatchQueue)
    /// At once, on whatever thread: for what only wakes somebody.
    case direct

    func deliver(_ handOver: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: handOver)
        case .direct: handOver()
        }
    }
}

/// Somebody who waits for the end of a request.
struct ResponseHandler: Sendable {
    /// Whether `settle` takes no time and calls nobody else's code, so that any thread will do.
    let isQuick: Bool
    let settle: @Sendable (EndedRequest) -> SettledResponse
}

/// A response that was made and isn't handed over yet: a retry may still take its place.
struct SettledResponse: Sendable {
    /// Why it couldn't be made, where the request itself went well.
    let failure: AFError?
    /// What a monitor is told.
    let parsed: MonitorEvent?
    /// Hands it over, with another failure where a retrier gave one.
    let deliver: @Sendable (AFError?) -> Void
}
