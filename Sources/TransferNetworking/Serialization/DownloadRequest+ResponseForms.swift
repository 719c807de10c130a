public import Dispatch
public import Foundation

// The forms that an answer is asked for in most. Each handler has a serializer of its own, and parses for itself.
extension DownloadRequest {
    /// Calls the handler with where the file is, on `queue`; a failure where there is none.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Calls the handler with the file's content, on `queue`. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - completionHandler: Called once, at the end.
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

    /// Calls the handler with the file's content as text, on `queue`. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - encoding: `nil` takes the one that the answer names, else ISO-8859-1.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - completionHandler: Called once, at the end.
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

    /// Calls the handler with the file's content as JSON, on `queue`: objects cast to `[String: Any]`, arrays to `[Any]`.
    /// The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - options: Those of `JSONSerialization`.
    ///   - completionHandler: Called once, at the end.
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

    /// `responseJSON` for handlers that are declared to take a response of `Any`.
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

    /// Calls the handler with the file's content as a property list, on `queue`. The file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - options: Those of `JSONSerialization`.
    ///   - completionHandler: Called once, at the end.
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

    /// `responsePropertyList` for handlers that are declared to take a response of `Any`.
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

    /// Calls the handler with the file's content, decoded, on `queue`. The file is read into memory.
    ///
    /// - Parameters:
    ///   - type: What is decoded; can be left out where the handler names it.
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - decoder: Of JSON, unless it's another one.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - completionHandler: Called once, at the end.
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
