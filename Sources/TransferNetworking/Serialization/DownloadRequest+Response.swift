public import Dispatch
public import Foundation

extension DownloadRequest {
    /// Calls the handler with where the file is, on `queue`.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        handle(.queue(queue), completionHandler, isQuick: true) {
            $0.request($1, didParseResponse: $2)
        } serialize: { ended in
            if let error = ended.error { throw error }
            return ended.fileURL
        }
    }

    /// Calls the handler with what a serializer made of the file, on `queue`.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self { handle(.queue(queue), responseSerializer, completionHandler) }

    /// Calls the handler with what a serializer made of the file, on `queue`; `.data` and the like say which.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self { handle(.queue(queue), responseSerializer, completionHandler) }

    func handle<Serializer: DownloadResponseSerializerProtocol>(
        _ target: ResponseTarget, _ serializer: Serializer,
        _ handler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        handle(target, handler, isQuick: serializer is URLResponseSerializer) {
            $0.request($1, didParseResponse: $2)
        } serialize: { ended in
            try serializer.serializeDownload(
                request: ended.request, response: ended.response, fileURL: ended.fileURL, error: ended.error)
        }
    }

    private func handle<Value: Sendable>(
        _ target: ResponseTarget, _ handler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void, isQuick: Bool,
        tell: @escaping @Sendable (any EventMonitor, DownloadRequest, AFDownloadResponse<Value>) -> Void,
        serialize: @escaping @Sendable (EndedRequest) throws -> Value
    ) -> Self {
        add(
            // A request that is never started would keep itself; and it's the request that calls its handlers.
            ResponseHandler(isQuick: isQuick) { [unowned self] ended in
                let (result, seconds) = Serialization.perform(isTimed: !isQuick) { try serialize(ended) }
                let response = AFDownloadResponse<Value>(
                    request: ended.request, answer: ended.answer, fileURL: ended.fileURL,
                    resumeData: ended.resumeData, serializationDuration: seconds,
                    result: result)
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
