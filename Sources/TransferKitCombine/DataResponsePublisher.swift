public import Dispatch
public import Foundation
public import OpenCombine
public import TransferNetworking

/// Publishes the response of a data or upload request, once.
///
/// Nothing happens before somebody subscribes and asks for it; then the request is started. A subscription that is
/// cancelled cancels the request. Retrying is the request's own, by a retrier: a response can't be asked for twice.
@preconcurrency
public struct DataResponsePublisher<Value: Sendable>: Publisher {
    public typealias Output = AFDataResponse<Value>
    public typealias Failure = Never

    private let request: DataRequest
    private let handle: @Sendable (@escaping @Sendable (Output) -> Void) -> Void

    /// - Parameters:
    ///   - queue: Where the response is published.
    ///   - serializer: What makes the value of the answer.
    public init<Serializer: DataResponseSerializerProtocol>(
        _ request: DataRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        handle = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// - Parameter queue: Where the response is published.
    public init(_ request: DataRequest, queue: DispatchQueue) where Value == Data? {
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

extension DataRequest {
    /// - Parameter queue: Where the response is published.
    public func publishResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DataResponsePublisher<Serializer.SerializedObject> {
        DataResponsePublisher(self, queue: queue, serializer: serializer)
    }

    public func publishData(
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataResponsePublisher<Data> {
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
    ) -> DataResponsePublisher<String> {
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
    ) -> DataResponsePublisher<Value> {
        publishResponse(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: preprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// The body as it came.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DataResponsePublisher<Data?> {
        DataResponsePublisher(self, queue: queue)
    }

    /// The same by the name that older documents have for the methods whose answers have no body.
    @preconcurrency
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self, queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyResponseMethods: Set<HTTPMethod>
    ) -> DataResponsePublisher<Value> {
        publishDecodable(
            type: type, queue: queue, preprocessor: preprocessor, decoder: decoder,
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyResponseMethods)
    }

    /// The same by the name that some documents have for the queue.
    public func publishUnserialized(on queue: DispatchQueue) -> DataResponsePublisher<Data?> {
        publishUnserialized(queue: queue)
    }
}
