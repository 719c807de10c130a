public import Dispatch
public import Foundation

extension DataStreamRequest {
    /// Calls `stream` on `queue` with each raw piece, and at the end.
    @preconcurrency
    @discardableResult
    public func responseStream(on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>) -> Self {
        let token = CancellationToken(self)
        consume { piece in
            queue.async {
                token.call(stream, Stream(event: .stream(.success(piece.data)), token: token))
                // The piece counts as taken only after the call.
                withExtendedLifetime(piece) {}
            }
        } ended: { completion in
            queue.async { try? stream(Stream(event: .complete(completion), token: token)) }
        }
        return self
    }

    /// Calls `stream` on `queue` with the value that a serializer makes of each piece, and at the end.
    ///
    /// Pieces have the sizes in which the network delivers them. A serializer of whole lines or values needs a server
    /// that sends them in single pieces.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        let token = CancellationToken(self)
        // The queue is serial even if the session's queue is concurrent.
        let serial = DispatchQueue(label: "transferkit.stream", target: session.serializationQueue)
        consume { piece in
            // The request is held until then, so that the last pieces are delivered even if no other reference exists.
            let request = token.request
            serial.async {
                defer { withExtendedLifetime(request) {} }
                let result = Result { try serializer.serialize(piece.data) }.mapError { error in
                    error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) }
                }
                token.parsed(result)
                if case .failure = result { token.streamFailed() }
                queue.async {
                    token.call(stream, Stream(event: .stream(result), token: token))
                    withExtendedLifetime(piece) {}
                }
            }
        } ended: { completion in
            serial.async { queue.async { try? stream(Stream(event: .complete(completion), token: token)) } }
        }
        return self
    }

    /// Calls `stream` on `queue` with each piece as a UTF-8 string, and at the end. A character that is split between
    /// two pieces is replaced.
    @preconcurrency
    @discardableResult
    public func responseStreamString(on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>) -> Self
    {
        responseStream(on: queue) { data in
            let event: Event<String, Never> =
                switch data.event {
                case .stream(.success(let data)): .stream(.success(String(decoding: data, as: UTF8.self)))
                case .complete(let completion): .complete(completion)
                }
            try stream(Stream(event: event, token: data.token))
        }
    }

    /// Calls `stream` on `queue` with the value decoded from each piece, and at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(), stream: @escaping Handler<Value, AFError>
    ) -> Self {
        responseStream(
            using: DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor), on: queue,
            stream: stream)
    }

}

extension DataStreamRequest.CancellationToken {
    fileprivate func call<Success, Failure>(
        _ handler: DataStreamRequest.Handler<Success, Failure>, _ stream: DataStreamRequest.Stream<Success, Failure>
    ) {
        do { try handler(stream) } catch { request?.handlerFailed(error) }
    }

    func streamFailed() { request?.streamFailed() }

    func parsed<Value: Sendable>(_ result: Result<Value, AFError>) {
        guard let request else { return }
        request.emit(MonitorEvent { $0.request(request, didParseStream: result) })
    }
}
