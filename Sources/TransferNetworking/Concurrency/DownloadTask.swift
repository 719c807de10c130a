import Dispatch
public import Foundation

/// Awaits one form of the file of a `DownloadRequest`, as often as one likes.
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let task: Task<AFDownloadResponse<Value>, Never>
    private let cancelsAutomatically: Bool

    init(
        _ request: DownloadRequest, cancelsAutomatically: Bool,
        start: @escaping @Sendable (@escaping @Sendable (AFDownloadResponse<Value>) -> Void) -> Void
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        task = Task { await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } } }
    }

    public var response: AFDownloadResponse<Value> {
        get async {
            guard cancelsAutomatically else { return await task.value }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                cancel()
            }
        }
    }

    public var result: AFResult<Value> { get async { await response.result } }

    /// - Throws: The `AFError` with which the download failed.
    public var value: Value { get async throws { try await result.get() } }

    /// Cancels the download, without resume data.
    public func cancel() { request.cancel() }

    public func resume() { request.resume() }

    public func suspend() { request.suspend() }
}

extension DownloadRequest {
    /// Where the file is; it isn't read.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the download.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = false
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// The file, read into memory.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = false
    ) -> DownloadTask<Data> {
        serializingDownload(using: DataResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// The file, read into memory.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = false, encoding: String.Encoding? = nil
    ) -> DownloadTask<String> {
        serializingDownload(
            using: StringResponseSerializer(encoding: encoding), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// The file, read into memory.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = false,
        decoder: any DataDecoder = JSONDecoder()
    ) -> DownloadTask<Value> {
        serializingDownload(
            using: DecodableResponseSerializer<Value>(decoder: decoder),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = false
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(self, cancelsAutomatically: shouldAutomaticallyCancel) { [self] deliver in
            response(queue: .awaiting, responseSerializer: serializer, completionHandler: deliver)
        }
    }
}

extension DispatchQueue {
    /// Where awaiting tasks are woken; nothing else runs there.
    static let awaiting = DispatchQueue(label: "transferkit.awaiting")
}
