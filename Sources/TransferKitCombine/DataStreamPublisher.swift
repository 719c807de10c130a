public import Dispatch
public import Foundation
public import OpenCombine
public import TransferNetworking

/// Publishes what a stream request receives, piece by piece, and its completion as the last value.
///
/// Nothing happens before somebody subscribes and asks for values; then the request is started. A subscriber that asks
/// for no more stops the reading until it does. A subscription that is cancelled cancels the request.
@preconcurrency
public struct DataStreamPublisher<Value: Sendable>: Publisher {
    public typealias Output = DataStreamRequest.Stream<Value, AFError>
    public typealias Failure = Never

    private let request: DataStreamRequest
    private let handle: @Sendable (@escaping DataStreamRequest.Handler<Value, AFError>) -> Void

    /// - Parameters:
    ///   - queue: Where the values are published.
    ///   - serializer: What makes a value of each piece.
    public init<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        handle = { request.responseStream(using: serializer, on: queue, stream: $0) }
    }

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Never {
        subscriber.receive(
            subscription: StreamSubscription(TransferKitCombine.Downstream(subscriber), of: request, handle))
    }

    /// The result of each piece, and the failure of the request as the last one, where it fails.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> {
        compactMap { stream in
            switch stream.event {
            case .stream(let result): result
            case .complete(let completion): completion.error.map { .failure($0) }
            }
        }.eraseToAnyPublisher()
    }

    /// The value of each piece alone; its failure, or the request's, as the publisher's.
    public func value() -> AnyPublisher<Value, AFError> {
        setFailureType(to: AFError.self).flatMap { stream -> AnyPublisher<Value, AFError> in
            if let result = stream.result { return result.publisher.eraseToAnyPublisher() }
            guard let error = stream.completion?.error else {
                return Empty(completeImmediately: true).eraseToAnyPublisher()
            }
            return Fail(error: error).eraseToAnyPublisher()
        }.eraseToAnyPublisher()
    }
}

extension DataStreamRequest {
    /// - Parameter queue: Where the values are published.
    public func publishStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DataStreamPublisher<Serializer.SerializedObject> {
        DataStreamPublisher(self, queue: queue, serializer: serializer)
    }

    public func publishData(queue: DispatchQueue = .main) -> DataStreamPublisher<Data> {
        publishStream(using: PassthroughStreamSerializer(), on: queue)
    }

    public func publishString(queue: DispatchQueue = .main) -> DataStreamPublisher<String> {
        publishStream(using: StringStreamSerializer(), on: queue)
    }

    @preconcurrency
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DataStreamPublisher<Value> {
        publishStream(
            using: DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor), on: queue)
    }
}
