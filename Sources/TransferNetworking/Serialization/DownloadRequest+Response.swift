public import Dispatch
public import Foundation

extension DownloadRequest {
    /// Calls the handler on `queue` with the URL of the file.
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

    /// Calls the handler on `queue` with the value that a serializer makes of the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self { handle(.queue(queue), responseSerializer, completionHandler) }

    /// Calls the handler on `queue` with the value that a serializer, such as `.data`, makes of the file.
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
            // A strong reference would keep a request that is never started. The request calls its handlers, and so
            // exists then.
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
