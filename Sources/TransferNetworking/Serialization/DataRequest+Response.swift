public import Dispatch
public import Foundation

extension DataRequest {
    /// Calls the handler on `queue` with the unserialized response.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        handle(.queue(queue), completionHandler, isQuick: true) {
            $0.request($1, didParseResponse: $2)
        } serialize: { ended in
            if let error = ended.error { throw error }
            return ended.data
        }
    }

    /// Calls the handler on `queue` with the value that a serializer makes of the response.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self { handle(.queue(queue), responseSerializer, completionHandler) }

    /// Calls the handler on `queue` with the value that a serializer, such as `.data`, makes of the response.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self { handle(.queue(queue), responseSerializer, completionHandler) }

    func handle<Serializer: DataResponseSerializerProtocol>(
        _ target: ResponseTarget, _ serializer: Serializer,
        _ handler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        let quick = (serializer as? any QuickSerializer).flatMap { $0.isQuick ? $0 : nil }
        return handle(target, handler, isQuick: quick != nil) {
            $0.request($1, didParseResponse: $2)
        } serialize: { ended in
            if let quick, let value = try quick.serialize(ended) as? Serializer.SerializedObject { return value }
            return try serializer.serialize(
                request: ended.request, response: ended.response, data: ended.data, error: ended.error)
        }
    }

    private func handle<Value: Sendable>(
        _ target: ResponseTarget, _ handler: @escaping @Sendable (AFDataResponse<Value>) -> Void, isQuick: Bool,
        tell: @escaping @Sendable (any EventMonitor, DataRequest, AFDataResponse<Value>) -> Void,
        serialize: @escaping @Sendable (EndedRequest) throws -> Value
    ) -> Self {
        add(
            // A strong reference would keep a request that is never started. The request calls its handlers, and so
            // exists then.
            ResponseHandler(isQuick: isQuick) { [unowned self] ended in
                let (result, seconds) = Serialization.perform(isTimed: !isQuick) { try serialize(ended) }
                let response = AFDataResponse<Value>(
                    request: ended.request, answer: ended.answer, data: ended.data,
                    serializationDuration: seconds, result: result)
                return SettledResponse(
                    failure: ended.error == nil ? response.error : nil,
                    parsed: parsed { [self] in tell($0, self, response) }
                ) { replacement in
                    let final = replacement.map { failure in response.mapError { _ in failure } } ?? response
                    target.deliver { handler(final) }
                }
            })
        return self
    }
}

/// The run of a serializer and the measurement of its duration.
enum Serialization {
    /// - Parameter isTimed: Whether the duration is measured, as reading the clock costs more than some serializers do.
    static func perform<Value>(
        isTimed: Bool, _ serialize: () throws -> Value
    ) -> (AFResult<Value>, seconds: TimeInterval) {
        let start = isTimed ? DispatchTime.now() : nil
        let result = Result(catching: serialize).mapError { error in
            error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) }
        }
        guard let start else { return (result, 0) }
        return (result, Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9)
    }
}
