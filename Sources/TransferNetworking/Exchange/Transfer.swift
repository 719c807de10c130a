import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

/// One attempt of a request, ready to go.
struct Transfer: Sendable {
    let exchange: ExchangeRequest
    let makeSink: @Sendable () -> any BodySink
}

/// An attempt that was started.
struct RunningTransfer: Sendable {
    let handle: ExchangeHandle
    let meter: ExchangeMeter
    /// Length of the request's body.
    let bodyLength: Int64?
}

/// How an attempt ended.
struct TransferEnd: Sendable {
    let outcome: ExchangeOutcome
    /// The answer whose body was delivered, if there was one.
    let start: BodyStart?

    var error: TransferError? {
        if case .failure(let error) = outcome.result { return error }
        return nil
    }

    /// The answer as programs expect it; also of an exchange that was refused for its status.
    var response: HTTPURLResponse? {
        let version = outcome.metrics.httpVersion
        switch outcome.result {
        case .success(let head):
            // A range that starts where the file ends is refused by 416; as everything is there, it's a success.
            let status = head.status == 416 && start == nil ? 206 : head.status
            return .make(head, status: status, url: outcome.finalURL, version: version)
        case .failure(let error):
            if let start { return .make(start.head, url: outcome.finalURL, version: version) }
            guard let status = error.status else { return nil }
            var fields: [HeaderField] = []
            if let pause = error.retryAfter { fields.append(HeaderField("Retry-After", "\(pause.components.seconds)")) }
            return .make(
                ResponseHead(status: status, fields: fields), url: outcome.finalURL, version: version)
        }
    }

    var failure: AFError? {
        guard let error else { return nil }
        if error.code == .httpStatus, let status = error.status {
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: status))
        }
        return .sessionTaskFailed(error: URLError(error))
    }
}
