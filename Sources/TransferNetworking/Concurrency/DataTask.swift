public import Foundation

/// A task that awaits one form of the response to a `DataRequest` or `UploadRequest`, any number of times.
@preconcurrency
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let box: ResponseBox<AFDataResponse<Value>>
    private let cancelsAutomatically: Bool

    init(
        _ request: DataRequest, cancelsAutomatically: Bool,
        start: (@escaping @Sendable (AFDataResponse<Value>) -> Void) -> Void
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        let box = ResponseBox<AFDataResponse<Value>>()
        self.box = box
        start { box.fill($0) }
    }

    /// The complete response of the request; it is the same each time it is awaited.
    public var response: AFDataResponse<Value> {
        get async {
            guard cancelsAutomatically else { return await box.response }
            return await withTaskCancellationHandler {
                await box.response
            } onCancel: {
                cancel()
            }
        }
    }

    /// The value, or the error with which the request failed.
    public var result: AFResult<Value> { get async { await response.result } }

    /// The value that the serializer made of the response.
    ///
    /// - Throws: The `AFError` with which the request failed.
    public var value: Value { get async throws { try await response.result.get() } }

    /// Cancels the request.
    public func cancel() { request.cancel() }

    /// Starts or resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataRequest {
    /// Awaits the body; the parameters are those of ``DataResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        serializingResponse(
            using: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the body as a string; the parameters are those of ``StringResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<String> {
        serializingResponse(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the decoded body; the parameters are those of ``DecodableResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    @preconcurrency
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DataTask<Value> {
        serializingResponse(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the value that a serializer, such as `.data`, makes of the response.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> { task(serializer, shouldAutomaticallyCancel) }

    /// Awaits the value that a serializer makes of the response.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> { task(serializer, shouldAutomaticallyCancel) }

    private func task<Serializer: DataResponseSerializerProtocol>(
        _ serializer: Serializer, _ cancels: Bool
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(self, cancelsAutomatically: cancels) { deliver in _ = handle(.direct, serializer, deliver) }
    }
}
