public import Dispatch
public import Foundation
public import OpenCombine
public import TransferNetworking

/// Publishes the response of a download, once; see ``DataResponsePublisher``.
///
/// Values other than the file's URL are made by reading the file into memory.
@preconcurrency
public struct DownloadResponsePublisher<Value: Sendable>: Publisher {
    public typealias Output = AFDownloadResponse<Value>
    public typealias Failure = Never

    private let request: DownloadRequest
    private let handle: @Sendable (@escaping @Sendable (Output) -> Void) -> Void

    /// - Parameters:
    ///   - queue: Where the response is published.
    ///   - serializer: What makes the value of the file.
    public init<Serializer: DownloadResponseSerializerProtocol>(
        _ request: DownloadRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        handle = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// - Parameter queue: Where the response is published.
    public init(_ request: DownloadRequest, queue: DispatchQueue) where Value == URL? {
        self.request = request
        handle = { request.response(queue: queue, completionHandler: $0) }
    }

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Never {
        subscriber.receive(
            subscription: ResponseSubscription(TransferKitCombine.Downstream(subscriber), of: request, handle))
    }

    /// The result alone.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> { map(\.result).eraseToAnyPublisher() }

    /// The value alone, and the failure as the publisher's.
    public func value() -> AnyPublisher<Value, AFError> {
        setFailureType(to: AFError.self).flatMap { $0.result.publisher }.eraseToAnyPublisher()
    }
}

extension DownloadRequest {
    /// - Parameter queue: Where the response is published.
    public func publishResponse<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DownloadResponsePublisher<Serializer.SerializedObject> {
        DownloadResponsePublisher(self, queue: queue, serializer: serializer)
    }

    /// Publishes the place of the file; a download without one fails.
    public func publishURL(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL> {
        publishResponse(using: URLResponseSerializer(), on: queue)
    }

    public func publishData(
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<Data> {
        publishResponse(
            using: DataResponseSerializer(
                dataPreprocessor: preprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// - Parameter encoding: `nil` takes the one that the answer names, else ISO 8859-1.
    public func publishString(
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<String> {
        publishResponse(
            using: StringResponseSerializer(
                dataPreprocessor: preprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    @preconcurrency
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self, queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<Value> {
        publishResponse(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: preprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// Where the file is, if there is one.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL?> {
        DownloadResponsePublisher(self, queue: queue)
    }

    /// The same by the name that older documents have for the methods whose answers have no body.
    @preconcurrency
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self, queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyResponseMethods: Set<HTTPMethod>
    ) -> DownloadResponsePublisher<Value> {
        publishDecodable(
            type: type, queue: queue, preprocessor: preprocessor, decoder: decoder,
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyResponseMethods)
    }

    /// The same by the name that some documents have for the queue.
    public func publishUnserialized(on queue: DispatchQueue) -> DownloadResponsePublisher<URL?> {
        publishUnserialized(queue: queue)
    }
}
