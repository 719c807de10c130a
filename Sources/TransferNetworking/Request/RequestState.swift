import Dispatch
import Foundation
import FoundationNetworking

/// What a request of any kind remembers.
struct RequestState {
    var lifecycle = RequestLifecycle()
    /// Counts the attempts, so that answers to an earlier one are told apart.
    var attempt = 0
    /// The attempt whose adapters have answered: a second answer of theirs doesn't count.
    var adaptedAttempt = 0
    var transfer: Transfer?
    var running: RunningTransfer?
    var requests: [URLRequest] = []
    var response: HTTPURLResponse?
    var error: AFError?
    var retryCount = 0
    var retryDelay: TimeInterval = 0
    var handlers: [ResponseHandler] = []
    var deliveries: [Delivery] = []
    var progress = ProgressObservers()

    var isCancelled: Bool {
        if case .cancelled = lifecycle.state { return true }
        return false
    }
}

/// Hands one response to the one who waits for it.
typealias Delivery = @Sendable () -> Void

/// Makes a response of a request that has ended.
typealias ResponseHandler = @Sendable (EndedRequest) -> Delivery

/// What a request ended with, before it's made into a response.
struct EndedRequest: Sendable {
    let request: URLRequest?
    let response: HTTPURLResponse?
    let error: AFError?
    let body: Body
    /// Of the last attempt that reached the network.
    var metrics: TransferTaskMetrics?

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
