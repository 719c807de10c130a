public import Dispatch
public import Foundation

// The most common forms of responses. Each handler has a serializer of its own, and so parses the file separately.
extension DownloadRequest {
    /// Calls the handler on `queue` with the URL of the file, or with a failure if there is none.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Calls the handler on `queue` with the file's content. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - completionHandler: The handler, called once at the end of the request.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Data>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Calls the handler on `queue` with the file's content as text. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - encoding: The encoding of the text; `nil` means the one that the response names, or else ISO-8859-1.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - completionHandler: The handler, called once at the end of the request.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Calls the handler on `queue` with the file's content as JSON: objects can be cast to `[String: Any]`, arrays to
    /// `[Any]`. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - options: The options of `JSONSerialization`.
    ///   - completionHandler: The handler, called once at the end of the request.
    @preconcurrency
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments,
        completionHandler: @escaping @Sendable (AFDownloadResponse<any Sendable>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: completionHandler)
    }

    /// Does the same as `responseJSON`, for handlers that take a response of `Any`.
    @_disfavoredOverload
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: { response in completionHandler(response.map { $0 }) })
    }

    /// Calls the handler on `queue` with the file's content as a property list. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - options: The options of `PropertyListSerialization`.
    ///   - completionHandler: The handler, called once at the end of the request.
    @preconcurrency
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        completionHandler: @escaping @Sendable (AFDownloadResponse<any Sendable>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: completionHandler)
    }

    /// Does the same as `responsePropertyList`, for handlers that take a response of `Any`.
    @_disfavoredOverload
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        completionHandler: @escaping @Sendable (AFDownloadResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: { response in completionHandler(response.map { $0 }) })
    }

    /// Calls the handler on `queue` with the value decoded from the file's content. The file is read into memory.
    ///
    /// - Parameters:
    ///   - type: The type of the value; it can be omitted where the handler names it.
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - decoder: The decoder; one for JSON by default.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - completionHandler: The handler, called once at the end of the request.
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer<Value>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }
}
