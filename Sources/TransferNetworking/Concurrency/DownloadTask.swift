import Dispatch
public import Foundation

/// A task that awaits one form of the file of a `DownloadRequest`, any number of times.
@preconcurrency
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let box: ResponseBox<AFDownloadResponse<Value>>
    private let cancelsAutomatically: Bool

    init(
        _ request: DownloadRequest, cancelsAutomatically: Bool,
        start: (@escaping @Sendable (AFDownloadResponse<Value>) -> Void) -> Void
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        let box = ResponseBox<AFDownloadResponse<Value>>()
        self.box = box
        start { box.fill($0) }
    }

    /// The complete response of the request; it is the same each time it is awaited.
    public var response: AFDownloadResponse<Value> {
        get async {
            guard cancelsAutomatically else { return await box.response }
            return await withTaskCancellationHandler {
                await box.response
            } onCancel: {
                cancel()
            }
        }
    }

    /// The value, or the error with which the download failed.
    public var result: AFResult<Value> { get async { await response.result } }

    /// The value that the serializer made of the file.
    ///
    /// - Throws: The `AFError` with which the download failed.
    public var value: Value { get async throws { try await response.result.get() } }

    /// Cancels the download, without resume data.
    public func cancel() { request.cancel() }

    /// Starts or resumes the download.
    public func resume() { request.resume() }

    /// Suspends the download.
    public func suspend() { request.suspend() }
}

extension DownloadRequest {
    /// Awaits the URL of the file, which is not read.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the download.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the file's content, read into memory; the parameters are those of ``DataResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<Data> {
        serializingDownload(
            using: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the file's content as a string, read into memory; the parameters are those of
    /// ``StringResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<String> {
        serializingDownload(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the value decoded from the file, which is read into memory; the parameters are those of
    /// ``DecodableResponseSerializer``.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the request.
    @preconcurrency
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DownloadTask<Value> {
        serializingDownload(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Awaits the value that a serializer, such as `.data`, makes of the file.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> { task(serializer, shouldAutomaticallyCancel) }

    /// Awaits the value that a serializer makes of the file.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> { task(serializer, shouldAutomaticallyCancel) }

    private func task<Serializer: DownloadResponseSerializerProtocol>(
        _ serializer: Serializer, _ cancels: Bool
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(self, cancelsAutomatically: cancels) { deliver in _ = handle(.direct, serializer, deliver) }
    }
}

extension DispatchQueue {
    /// The queue that wakes awaiting tasks; nothing else runs there.
    static let awaiting = DispatchQueue(label: "transferkit.awaiting")
}
