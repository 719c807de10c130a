import Dispatch
public import Foundation

/// The source of a `DataStreamRequest`'s streams; each observer has its own stream.
///
/// Pieces that an observer has not awaited yet are bounded by the network: a slow observer slows the request down.
public struct DataStreamTask: Sendable {
    /// A stream of the values of one observer.
    @preconcurrency
    public typealias Stream<Success, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>
    where Success: Sendable

    private let request: DataStreamRequest

    init(request: DataStreamRequest) { self.request = request }

    /// Returns a stream of the pieces as they arrive.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether the request is cancelled when the loop is left before its end.
    ///   - bufferingPolicy: The treatment of pieces that are not awaited yet; a policy that drops values loses pieces
    ///     of the body.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy = .unbounded
    ) -> Stream<Data, Never> {
        stream(shouldAutomaticallyCancel, bufferingPolicy) { piece in .success(piece) }
    }

    /// Returns a stream of the pieces as UTF-8 strings; a character that is split between two pieces is replaced.
    public func streamingStrings(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<String, Never>.BufferingPolicy = .unbounded
    ) -> Stream<String, Never> {
        stream(shouldAutomaticallyCancel, bufferingPolicy) { .success(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns a stream of the values that are decoded from the pieces.
    @preconcurrency
    public func streamingDecodables<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = JSONDecoder(), preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        bufferingPolicy: Stream<Value, AFError>.BufferingPolicy = .unbounded
    ) -> Stream<Value, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }

    /// Returns a stream of the values that a serializer makes of the pieces.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy = .unbounded
    ) -> Stream<Serializer.SerializedObject, AFError> {
        let token = DataStreamRequest.CancellationToken(request)
        return stream(shouldAutomaticallyCancel, bufferingPolicy) { data in
            let result = Result { try serializer.serialize(data) }.mapError { error in
                error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) }
            }
            token.parsed(result)
            if case .failure = result { token.streamFailed() }
            return result
        }
    }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Starts or resumes the request.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }

    private func stream<Success: Sendable, Failure>(
        _ cancels: Bool, _ policy: Stream<Success, Failure>.BufferingPolicy,
        _ serialize: @escaping @Sendable (Data) -> Result<Success, Failure>
    ) -> Stream<Success, Failure> {
        let token = DataStreamRequest.CancellationToken(request)
        let onTermination: (@Sendable () -> Void)? = cancels ? { @Sendable in token.cancel() } : nil
        return StreamOf(bufferingPolicy: policy, onTermination: onTermination) { buffer in
            let serial = DispatchQueue(label: "transferkit.stream", target: request.session.serializationQueue)
            request.consume { piece in
                let request = token.request
                serial.async {
                    defer { withExtendedLifetime((request, piece.turn)) {} }
                    let event = DataStreamRequest.Event<Success, Failure>.stream(serialize(piece.data))
                    buffer.yield(DataStreamRequest.Stream(event: event, token: token), token: piece.token)
                }
            } ended: { completion in
                serial.async {
                    buffer.yield(DataStreamRequest.Stream(event: .complete(completion), token: token))
                    buffer.finish()
                }
            }
        }
    }
}

extension DataStreamRequest {
    /// Returns a task whose streams can be awaited.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
