public import Dispatch
public import Foundation

extension DataRequest {
    /// Calls the handler with the answer as it came, on `queue`.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        handle(queue, completionHandler) { ended in
            if let error = ended.error { throw error }
            return ended.data
        }
    }

    /// Calls the handler with what a serializer made of the answer, on `queue`.
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        handle(queue, completionHandler) { ended in
            try responseSerializer.serialize(
                request: ended.request, response: ended.response, data: ended.data, error: ended.error)
        }
    }

    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Data>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: DataResponseSerializer(), completionHandler: completionHandler)
    }

    /// - Parameter encoding: `nil` takes the one that the answer names.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main, encoding: String.Encoding? = nil,
        completionHandler: @escaping @Sendable (AFDataResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: StringResponseSerializer(encoding: encoding),
            completionHandler: completionHandler)
    }

    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: DecodableResponseSerializer<Value>(decoder: decoder),
            completionHandler: completionHandler)
    }

    private func handle<Value: Sendable>(
        _ queue: DispatchQueue, _ handler: @escaping @Sendable (AFDataResponse<Value>) -> Void,
        _ serialize: @escaping @Sendable (EndedRequest) throws -> Value
    ) -> Self {
        add { ended in
            let (result, seconds) = Serialization.perform { try serialize(ended) }
            let response = AFDataResponse<Value>(
                request: ended.request, response: ended.response, data: ended.data, serializationDuration: seconds,
                result: result)
            return { queue.async { handler(response) } }
        }
        return self
    }
}

/// Runs a serializer and takes its time.
enum Serialization {
    static func perform<Value>(_ serialize: () throws -> Value) -> (AFResult<Value>, seconds: TimeInterval) {
        let start = DispatchTime.now()
        let result = Result(catching: serialize).mapError { error in
            error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) }
        }
        return (result, Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9)
    }
}
