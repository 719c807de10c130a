import Foundation
import FoundationNetworking

/// The task as a `URLProtocol` sees it: the request as it is sent, with the session's fields.
final class ProtocolTask: URLSessionDataTask, @unchecked Sendable {  // Constants of Sendable types only.
    private let request: URLRequest
    private let task: URLSessionTask?

    /// - Parameter task: The task of the attempt; `nil` before a carrier was chosen.
    init(_ request: URLRequest, of task: URLSessionTask? = nil) {
        self.request = request
        self.task = task
        super.init()
    }

    override var taskIdentifier: Int { task?.taskIdentifier ?? 0 }
    override var originalRequest: URLRequest? { request }
    override var currentRequest: URLRequest? { request }
    override var response: URLResponse? { task?.response }
    override var error: (any Error)? { task?.error }
    override var state: URLSessionTask.State { task?.state ?? .suspended }
    override var progress: Progress { task?.progress ?? Progress(totalUnitCount: -1) }
    override var countOfBytesReceived: Int64 { task?.countOfBytesReceived ?? 0 }
    override var countOfBytesSent: Int64 { task?.countOfBytesSent ?? 0 }
    override func cancel() { task?.cancel() }
    override func suspend() { task?.suspend() }
    override func resume() { task?.resume() }
}
