import Dispatch
public import Foundation

/// Awaits one form of the file of a `DownloadRequest`, as often as one likes.
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

    /// All that came of the request; awaiting it again gives the same.
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

    public var result: AFResult<Value> { get async { await response.result } }

    /// - Throws: The `AFError` with which the download failed.
    public var value: Value { get async throws { try await response.result.get() } }

    /// Cancels the download, without resume data.
    public func cancel() { request.cancel() }

    public func resume() { request.resume() }

    public func suspend() { request.suspend() }
}

extension DownloadRequest {
    /// Awaits the place of the file, which isn't read.
    ///
    /// - Parameter shouldAutomaticallyCancel: Whether cancelling the task that awaits cancels the download.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// The file, read into memory; the parameters are those of ``DataResponseSerializer``.
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

    /// The file, read into memory, as a string; the parameters are those of ``StringResponseSerializer``.
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

    /// The file, read into memory, decoded; the parameters are those of ``DecodableResponseSerializer``.
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

    /// Awaits the value that a serializer makes of the file; `.data` and the like say which.
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
    /// Where awaiting tasks are woken; nothing else runs there.
    static let awaiting = DispatchQueue(label: "transferkit.awaiting")
}
