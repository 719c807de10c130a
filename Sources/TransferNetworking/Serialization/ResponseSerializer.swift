public import Foundation
public import FoundationNetworking

/// A serializer that makes a value of the response to a `DataRequest`.
@preconcurrency
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Makes a value of the response.
    ///
    /// - Parameters:
    ///   - request: The URL request that was sent last.
    ///   - response: The head of the response.
    ///   - data: The body.
    ///   - error: The request's failure. A serializer that has no value for it throws it.
    /// - Throws: The failure of the response's result, which is reported as `customSerializationFailed` unless it is an
    ///   `AFError`.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer that makes a value of the file of a `DownloadRequest`.
@preconcurrency
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Makes a value of the file.
    ///
    /// - Parameters:
    ///   - request: The URL request that was sent last.
    ///   - response: The head of the response.
    ///   - fileURL: The place of the file.
    ///   - error: The request's failure. A serializer that has no value for it throws it.
    /// - Throws: The failure of the response's result, which is reported as `customSerializationFailed` unless it is an
    ///   `AFError`.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer for both kinds of requests, which prepares the bytes and knows which responses may be empty.
///
/// All requirements except `serialize` have default implementations.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
{
    /// The preprocessor of the bytes, which leaves them unchanged by default.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods of requests whose responses may have no body; HEAD by default.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The statuses of responses that may have no body; 204 and 205 by default (RFC 9110 §15.3.5, §15.3.6).
    var emptyResponseCodes: Set<Int> { get }
}

/// The default methods and statuses, stored once as every request uses them.
private enum EmptyAnswers {
    static let methods: Set<HTTPMethod> = [.head]
    static let codes: Set<Int> = [204, 205]
}

extension ResponseSerializer {
    /// The default preprocessor, which leaves the bytes unchanged.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// The default methods of requests whose responses may have no body: HEAD.
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyAnswers.methods }
    /// The default statuses of responses that may have no body: 204 and 205.
    public static var defaultEmptyResponseCodes: Set<Int> { EmptyAnswers.codes }

    /// The default preprocessor.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// The default methods.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// The default statuses.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether the request's method permits a response without a body; `nil` without a request or method.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.method.map(emptyRequestMethods.contains)
    }

    /// Whether the status permits a response without a body; `nil` without a response.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        response.map { emptyResponseCodes.contains($0.statusCode) }
    }

    /// Whether the method or the status permits a response without a body.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// Reads the file into memory, and makes a value of its bytes.
    ///
    /// The file is read rather than mapped. Otherwise a value that keeps the bytes would change, or end the program,
    /// when another process writes to the file or truncates it.
    ///
    /// - Throws: The request's failure, `inputFileNil`, `inputFileReadFailed`, or the error of `serialize`.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        guard let data = try? Data(contentsOf: fileURL) else {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }

    /// Returns the preprocessed body, or `nil` if it is permitted to be empty.
    ///
    /// - Throws: The request's failure, `inputDataNilOrZeroLength`, or the error of the preprocessor.
    func body(_ request: URLRequest?, _ response: HTTPURLResponse?, _ data: Data?, _ error: (any Error)?) throws
        -> Data?
    {
        if let error { throw error }
        if let data, !data.isEmpty { return try dataPreprocessor.preprocess(data) }
        guard emptyResponseAllowed(forRequest: request, response: response) else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return nil
    }
}
