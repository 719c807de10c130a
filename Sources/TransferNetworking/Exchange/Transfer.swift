import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

/// One attempt of a request, ready to be carried out. The type is a class, as values are large and kept in several
/// places.
final class Transfer: Sendable {
    let urlRequest: URLRequest
    let exchange: ExchangeRequest
    /// The cache's part of the attempt.
    let cached: CachedExchange?
    /// The claim of a `URLProtocol` that carries the attempt in place of the network.
    let claim: ProtocolClaim?
    let makeSink: @Sendable (AttemptRecord) -> any BodySink
    /// The file that is read in place of an exchange.
    let file: LocalFile?

    init(urlRequest: URLRequest, file: LocalFile) {
        self.urlRequest = urlRequest
        exchange = ExchangeRequest(url: file.url.absoluteString)
        cached = nil
        claim = nil
        makeSink = { _ in EmptySink() }
        self.file = file
    }

    init(
        urlRequest: URLRequest, exchange: ExchangeRequest, cached: CachedExchange? = nil, claim: ProtocolClaim? = nil,
        makeSink: @escaping @Sendable (AttemptRecord) -> any BodySink
    ) {
        self.urlRequest = urlRequest
        self.exchange = exchange
        self.cached = cached
        self.claim = claim
        self.makeSink = makeSink
        file = nil
    }

    func claimed(by claim: ProtocolClaim) -> Transfer {
        Transfer(urlRequest: urlRequest, exchange: exchange, cached: cached, claim: claim, makeSink: makeSink)
    }

    /// The scheme and the authority of the URL, by which simultaneous transfers are limited.
    var hostKey: Substring {
        let url = exchange.url
        return Substring(url.utf8.prefix(url.lengthThroughAuthority))
    }
}

/// A sink that drops everything.
private final class EmptySink: BodySink {
    let position: Int64 = 0
    let isReady = true
    func begin(_ start: BodyStart) throws(TransferError) {}
    func write(_ new: UnsafeRawBufferPointer) throws(TransferError) {}
}

/// The end of an attempt. The type is a class, as values are large and kept in several places.
final class TransferEnd: Sendable {
    let outcome: ExchangeOutcome
    /// The response whose body was delivered, if there was one.
    let start: BodyStart?
    /// The failure of an attempt that never reached the network.
    private let unsent: AFError?

    init(outcome: ExchangeOutcome, start: BodyStart?) {
        self.outcome = outcome
        self.start = start
        unsent = nil
    }

    /// Makes the end of an attempt that read a file of this machine.
    init(localURL url: String) {
        outcome = ExchangeOutcome(finalURL: url, start: nil, position: 0, failure: nil)
        start = nil
        unsent = nil
    }

    init(unsent failure: AFError, url: String) {
        let cause = (failure.underlyingError as? URLError)?.transferError
        outcome = ExchangeOutcome(
            finalURL: url, start: nil, position: 0,
            failure: cause ?? TransferError(.internalFault, failure.localizedDescription))
        start = nil
        unsent = failure
    }

    var error: TransferError? {
        if case .failure(let error) = outcome.result { return error }
        return nil
    }

    private var finalURL: String { outcome.fragment.map { "\(outcome.finalURL)#\($0)" } ?? outcome.finalURL }

    /// The response in Foundation's form, even for an exchange that was refused for its status or was interrupted.
    var response: HTTPURLResponse? {
        let version = outcome.metrics.httpVersion
        switch outcome.result {
        case .success(let head):
            // The server refuses a range that starts at the end of the file with a 416. The file is complete, so that
            // the attempt succeeded.
            let status = head.status == 416 && start == nil ? 206 : head.status
            return .make(head, status: status, url: finalURL, version: version)
        case .failure:
            return outcome.head.flatMap { .make($0, url: finalURL, version: version) }
        }
    }

    /// The failure of the task, in the form that programs expect.
    var taskError: (any Error)? {
        unsent?.underlyingError ?? outcome.carrierError ?? error.map { URLError($0) }
    }

    var failure: AFError? {
        if let unsent { return unsent }
        guard let error else { return nil }
        if let cause = outcome.carrierError { return cause.asAFError { .sessionTaskFailed(error: $0) } }
        if let refusal = outcome.refusal, !(refusal is TransferError) {
            return refusal as? AFError ?? .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: refusal))
        }
        if OfflineRule.isOffline(error, url: outcome.finalURL) {
            return .sessionTaskFailed(error: URLError(error, as: .notConnectedToInternet))
        }
        if error.code == .httpStatus, let status = error.status {
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: status))
        }
        return .sessionTaskFailed(error: URLError(error))
    }
}
