import Foundation
import FoundationNetworking
import TransferEngine

// One attempt of a request in the form that Foundation's signatures require. Three classes are needed, as the class of
// a task is its kind there. Each only shows its attempt.

/// The commands of a task, which its request executes if the task is the latest.
private struct TaskCommands: Sendable {
    private weak let request: Request?
    private let isLatest: @Sendable () -> Bool

    init(_ request: Request, _ record: AttemptRecord) {
        self.request = request
        isLatest = { [weak request, unowned record] in request?.isLatest(record) ?? false }
    }

    func cancel() { if isLatest() { request?.cancel() } }
    func suspend() { if isLatest() { request?.suspend() } }
    func resume() { if isLatest() { request?.resume() } }

    func state(of record: AttemptRecord) -> URLSessionTask.State {
        guard record.isRunning else { return .completed }
        switch request?.state {
        case .initialized, .suspended: return .suspended
        case .cancelled: return .canceling
        default: return .running
        }
    }
}

extension AttemptRecord {
    fileprivate var taskError: (any Error)? { end?.taskError }
    fileprivate var expectedToSend: Int64 { bodyLength ?? NSURLSessionTransferSizeUnknown }
    fileprivate var expectedToReceive: Int64 { meter.total ?? NSURLSessionTransferSizeUnknown }
    fileprivate var progress: Progress { ProgressCount(completed: meter.position, total: meter.total).progress }
}

/// An attempt of a `DataRequest` or `DataStreamRequest`.
final class TransferDataTask: URLSessionDataTask, @unchecked Sendable {  // Constants of Sendable types only.
    private let record: AttemptRecord
    private let commands: TaskCommands

    init(_ record: AttemptRecord, _ request: Request) {
        self.record = record
        commands = TaskCommands(request, record)
        super.init()
    }

    override var taskIdentifier: Int { record.number }
    override var originalRequest: URLRequest? { record.urlRequest }
    override var currentRequest: URLRequest? { record.urlRequest }
    override var response: URLResponse? { record.response }
    override var error: (any Error)? { record.taskError }
    override var state: URLSessionTask.State { commands.state(of: record) }
    override var progress: Progress { record.progress }
    override var countOfBytesReceived: Int64 { record.meter.position }
    override var countOfBytesSent: Int64 { record.meter.acknowledged }
    override var countOfBytesExpectedToSend: Int64 { record.expectedToSend }
    override var countOfBytesExpectedToReceive: Int64 { record.expectedToReceive }
    override func cancel() { commands.cancel() }
    override func suspend() { commands.suspend() }
    override func resume() { commands.resume() }
}

/// An attempt of an `UploadRequest`.
final class TransferUploadTask: URLSessionUploadTask, @unchecked Sendable {  // Constants of Sendable types only.
    private let record: AttemptRecord
    private let commands: TaskCommands

    init(_ record: AttemptRecord, _ request: Request) {
        self.record = record
        commands = TaskCommands(request, record)
        super.init()
    }

    override var taskIdentifier: Int { record.number }
    override var originalRequest: URLRequest? { record.urlRequest }
    override var currentRequest: URLRequest? { record.urlRequest }
    override var response: URLResponse? { record.response }
    override var error: (any Error)? { record.taskError }
    override var state: URLSessionTask.State { commands.state(of: record) }
    override var progress: Progress { record.progress }
    override var countOfBytesReceived: Int64 { record.meter.position }
    override var countOfBytesSent: Int64 { record.meter.acknowledged }
    override var countOfBytesExpectedToSend: Int64 { record.expectedToSend }
    override var countOfBytesExpectedToReceive: Int64 { record.expectedToReceive }
    override func cancel() { commands.cancel() }
    override func suspend() { commands.suspend() }
    override func resume() { commands.resume() }
}

/// An attempt of a `DownloadRequest`.
final class TransferDownloadTask: URLSessionDownloadTask, @unchecked Sendable {  // Constants of Sendable types only.
    private let record: AttemptRecord
    private let commands: TaskCommands

    init(_ record: AttemptRecord, _ request: Request) {
        self.record = record
        commands = TaskCommands(request, record)
        super.init()
    }

    override var taskIdentifier: Int { record.number }
    override var originalRequest: URLRequest? { record.urlRequest }
    override var currentRequest: URLRequest? { record.urlRequest }
    override var response: URLResponse? { record.response }
    override var error: (any Error)? { record.taskError }
    override var state: URLSessionTask.State { commands.state(of: record) }
    override var progress: Progress { record.progress }
    override var countOfBytesReceived: Int64 { record.meter.position }
    override var countOfBytesSent: Int64 { record.meter.acknowledged }
    override var countOfBytesExpectedToSend: Int64 { record.expectedToSend }
    override var countOfBytesExpectedToReceive: Int64 { record.expectedToReceive }
    override func cancel() { commands.cancel() }
    override func suspend() { commands.suspend() }
    override func resume() { commands.resume() }
}
