public import Dispatch
public import Foundation

extension DownloadRequest {
    /// Calls the handler with where the file is, on `queue`.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        handle(queue, completionHandler) { ended in
            if let error = ended.error { throw error }
            return ended.fileURL
        }
    }

    /// Calls the handler with what a serializer made of the file, on `queue`.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        handle(queue, completionHandler) { ended in
            try responseSerializer.serializeDownload(
                request: ended.request, response: ended.response, fileURL: ended.fileURL, error: ended.error)
        }
    }

    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Reads the file into memory.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<Data>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: DataResponseSerializer(), completionHandler: completionHandler)
    }

    /// Reads the file into memory.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main, encoding: String.Encoding? = nil,
        completionHandler: @escaping @Sendable (AFDownloadResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: StringResponseSerializer(encoding: encoding),
            completionHandler: completionHandler)
    }

    /// Reads the file into memory.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        completionHandler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: DecodableResponseSerializer<Value>(decoder: decoder),
            completionHandler: completionHandler)
    }

    private func handle<Value: Sendable>(
        _ queue: DispatchQueue, _ handler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void,
        _ serialize: @escaping @Sendable (EndedRequest) throws -> Value
    ) -> Self {
        add { ended in
            let (result, seconds) = Serialization.perform { try serialize(ended) }
            let response = AFDownloadResponse<Value>(
                request: ended.request, response: ended.response, fileURL: ended.fileURL,
                resumeData: ended.resumeData, serializationDuration: seconds, result: result)
            return { queue.async { handler(response) } }
        }
        return self
    }
}
