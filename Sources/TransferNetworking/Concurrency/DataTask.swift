public import Foundation

/// Awaits one form of the answer to a `DataRequest` or `UploadRequest`, as often as one likes.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let task: Task<AFDataResponse<Value>, Never>
    private let cancelsAutomatically: Bool

    init(
        _ request: DataRequest, cancelsAutomatically: Bool,
        start: @escaping @Sendable (@escaping @Sendable (AFDataResponse<Value>) -> Void) -> Void
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        task = Task { await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } } }
    }

    public var response: AFDataResponse<Value> {
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

    /// - Throws: The `AFError` with which the request failed.
    public var value: Value { get async throws { try await result.get() } }

    /// Cancels the request.
    public func cancel() { request.cancel() }

    public func resume() { request.resume() }

    public func suspend() { request.suspend() }
}

extension DataRequest {
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = false
    ) -> DataTask<Data> {
        serializingResponse(using: DataResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = false, encoding: String.Encoding? = nil
    ) -> DataTask<String> {
        serializingResponse(
            using: StringResponseSerializer(encoding: encoding), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = false,
        decoder: any DataDecoder = JSONDecoder()
    ) -> DataTask<Value> {
        serializingResponse(
            using: DecodableResponseSerializer<Value>(decoder: decoder),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = false
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(self, cancelsAutomatically: shouldAutomaticallyCancel) { [self] deliver in
            response(queue: .awaiting, responseSerializer: serializer, completionHandler: deliver)
        }
    }
}
