public import Foundation
public import FoundationNetworking

extension DownloadRequest {
    /// Returns a task that continues a download of the request's session. Resuming the task starts a request of its
    /// own.
    ///
    /// - Parameters:
    ///   - data: The resume data, from ``resumeData``.
    ///   - session: A session of Foundation, which is not used.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        ResumingTask(self.session.download(resumingWith: data, to: destination), number: self.session.nextTaskNumber)
    }
}

/// A task that exists before its request is started.
final class ResumingTask: URLSessionDownloadTask, @unchecked Sendable {  // Constants of Sendable types only.
    private let request: DownloadRequest
    private let number: Int

    init(_ request: DownloadRequest, number: Int) {
        self.request = request
        self.number = number
        super.init()
    }

    override var taskIdentifier: Int { number }
    override var originalRequest: URLRequest? { request.firstRequest ?? (try? request.makeURLRequest()) }
    override var currentRequest: URLRequest? { request.request ?? originalRequest }
    override var response: URLResponse? { request.response }
    override var error: (any Error)? { request.error?.underlyingError ?? request.error }
    override var progress: Progress { request.downloadProgress }
    override var countOfBytesReceived: Int64 { request.downloadProgress.completedUnitCount }
    override var countOfBytesExpectedToReceive: Int64 { request.downloadProgress.totalUnitCount }
    override var state: URLSessionTask.State {
        switch request.state {
        case .initialized, .suspended: .suspended
        case .resumed: .running
        case .cancelled: .canceling
        case .finished: .completed
        }
    }
    override func cancel() { request.cancel() }
    override func suspend() { request.suspend() }
    override func resume() { request.resume() }
}
