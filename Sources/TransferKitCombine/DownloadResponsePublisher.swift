public import Dispatch
public import Foundation
public import OpenCombine
public import TransferNetworking

/// A publisher of the response of a download, once; ``DataResponsePublisher`` has the details.
///
/// The file is read into memory for all values but its URL.
@preconcurrency
public struct DownloadResponsePublisher<Value: Sendable>: Publisher {
    /// The published value: the response.
    public typealias Output = AFDownloadResponse<Value>
    /// The failure of the publisher: it never fails.
    public typealias Failure = Never

    private let request: DownloadRequest
    private let handle: @Sendable (@escaping @Sendable (Output) -> Void) -> Void

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - queue: The queue on which the response is published.
    ///   - serializer: The serializer that makes the value of the file.
    public init<Serializer: DownloadResponseSerializerProtocol>(
        _ request: DownloadRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        handle = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// Creates a publisher of the file's URL.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - queue: The queue on which the response is published.
    public init(_ request: DownloadRequest, queue: DispatchQueue) where Value == URL? {
        self.request = request
        handle = { request.response(queue: queue, completionHandler: $0) }
    }

    /// Subscribes a subscriber; the request starts with its first demand.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Never {
        subscriber.receive(
            subscription: ResponseSubscription(TransferKitCombine.Downstream(subscriber), of: request, handle))
    }

    /// Returns a publisher of the result alone.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> { map(\.result).eraseToAnyPublisher() }

    /// Returns a publisher of the value alone; the request's failure becomes the publisher's.
    public func value() -> AnyPublisher<Value, AFError> {
        setFailureType(to: AFError.self).flatMap { $0.result.publisher }.eraseToAnyPublisher()
    }
}

extension DownloadRequest {
    /// Returns a publisher of the value that a serializer makes of the file.
    ///
    /// - Parameters:
    ///   - serializer: The serializer.
    ///   - queue: The queue on which the response is published.
    public func publishResponse<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DownloadResponsePublisher<Serializer.SerializedObject> {
        DownloadResponsePublisher(self, queue: queue, serializer: serializer)
    }

    /// Returns a publisher of the file's URL; a download without a file fails.
    public func publishURL(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL> {
        publishResponse(using: URLResponseSerializer(), on: queue)
    }

    /// Returns a publisher of the file's content; the parameters are those of `DataResponseSerializer`.
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

    /// Returns a publisher of the file's content as text; the parameters are those of `StringResponseSerializer`.
    ///
    /// - Parameter encoding: The encoding of the text; `nil` means the one that the response names, or else ISO-8859-1.
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

    /// Returns a publisher of the value decoded from the file; the parameters are those of
    /// `DecodableResponseSerializer`.
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

    /// Returns a publisher of the file's URL, or `nil` if there is no file.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL?> {
        DownloadResponsePublisher(self, queue: queue)
    }

    /// Returns a publisher of the value decoded from the file, with an earlier name of the parameter for methods.
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

    /// Returns a publisher of the file's URL, with another name of the parameter for the queue.
    public func publishUnserialized(on queue: DispatchQueue) -> DownloadResponsePublisher<URL?> {
        publishUnserialized(queue: queue)
    }
}
