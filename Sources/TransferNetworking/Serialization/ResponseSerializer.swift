public import Foundation
public import FoundationNetworking

/// Makes a value of the answer to a `DataRequest`.
@preconcurrency
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameter error: The request's failure; a serializer that has no answer to it throws it.
    /// - Throws: What the response's result fails with, as `customSerializationFailed` unless it's an `AFError`.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject
}

/// Makes a value of the file of a `DownloadRequest`.
@preconcurrency
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameter error: The request's failure; a serializer that has no answer to it throws it.
    /// - Throws: What the response's result fails with, as `customSerializationFailed` unless it's an `AFError`.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer of both kinds: prepares the bytes, and knows which answers may be empty.
///
/// All requirements but `serialize` have default implementations.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
{
    /// Changes the bytes before they're made into a value; leaves them as they are by default.
    var dataPreprocessor: any DataPreprocessor { get }
    /// Methods whose answers have no body; HEAD by default.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// Statuses of answers without a body; 204 and 205 by default (RFC 9110 §15.3.5, §15.3.6).
    var emptyResponseCodes: Set<Int> { get }
}

/// Made once: each request has them.
private enum EmptyAnswers {
    static let methods: Set<HTTPMethod> = [.head]
    static let codes: Set<Int> = [204, 205]
}

extension ResponseSerializer {
    /// Leaves the bytes as they are.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// HEAD.
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyAnswers.methods }
    /// 204 and 205.
    public static var defaultEmptyResponseCodes: Set<Int> { EmptyAnswers.codes }

    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether the request's method allows an answer without a body; `nil` when there is no request or method.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.method.map(emptyRequestMethods.contains)
    }

    /// Whether the status allows an answer without a body; `nil` when there is no answer.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        response.map { emptyResponseCodes.contains($0.statusCode) }
    }

    /// Whether an answer without a body is one as it should be, by its method or its status.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// Reads the file into memory, and makes a value of its bytes.
    ///
    /// The file is read and not mapped: a value that keeps the bytes must not change, or end the program, when somebody
    /// writes to the file or shortens it.
    ///
    /// - Throws: The request's failure, `inputFileNil`, `inputFileReadFailed`, and what `serialize` throws.
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

    /// The prepared body, or `nil` where it's rightly missing.
    ///
    /// - Throws: The request's failure, `inputDataNilOrZeroLength`, and what the preprocessor throws.
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
