public import Dispatch
public import Foundation
public import OpenCombine
public import TransferNetworking

/// A publisher of the pieces that a stream request receives, with the completion as the last value.
///
/// The request is started when a subscriber demands values. Reading stops while a subscriber demands no more.
/// Cancelling the subscription cancels the request.
@preconcurrency
public struct DataStreamPublisher<Value: Sendable>: Publisher {
    /// The published values: the pieces, and the completion.
    public typealias Output = DataStreamRequest.Stream<Value, AFError>
    /// The failure of the publisher: it never fails.
    public typealias Failure = Never

    private let request: DataStreamRequest
    private let handle: @Sendable (@escaping DataStreamRequest.Handler<Value, AFError>) -> Void

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - queue: The queue on which the values are published.
    ///   - serializer: The serializer that makes a value of each piece.
    public init<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        handle = { request.responseStream(using: serializer, on: queue, stream: $0) }
    }

    /// Subscribes a subscriber; the request starts with its first demand.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Never {
        subscriber.receive(
            subscription: StreamSubscription(TransferKitCombine.Downstream(subscriber), of: request, handle))
    }

    /// Returns a publisher of the result of each piece. The failure of the request is the last one, if it fails.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> {
        compactMap { stream in
            switch stream.event {
            case .stream(let result): result
            case .complete(let completion): completion.error.map { .failure($0) }
            }
        }.eraseToAnyPublisher()
    }

    /// Returns a publisher of the value of each piece. The failure of a piece, or of the request, becomes the
    /// publisher's.
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
    /// Returns a publisher of the values that a serializer makes of the pieces.
    ///
    /// - Parameters:
    ///   - serializer: The serializer.
    ///   - queue: The queue on which the values are published.
    public func publishStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DataStreamPublisher<Serializer.SerializedObject> {
        DataStreamPublisher(self, queue: queue, serializer: serializer)
    }

    /// Returns a publisher of the raw pieces.
    public func publishData(queue: DispatchQueue = .main) -> DataStreamPublisher<Data> {
        publishStream(using: PassthroughStreamSerializer(), on: queue)
    }

    /// Returns a publisher of the pieces as UTF-8 text.
    public func publishString(queue: DispatchQueue = .main) -> DataStreamPublisher<String> {
        publishStream(using: StringStreamSerializer(), on: queue)
    }

    /// Returns a publisher of the values decoded from the pieces; the parameters are those of
    /// `DecodableStreamSerializer`.
    @preconcurrency
    public func publishDecodable<Value: Decodable & Sendable>(
        type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DataStreamPublisher<Value> {
        publishStream(
            using: DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor), on: queue)
    }
}
