public import Foundation
public import FoundationNetworking

/// A serializer that parses the body as JSON by `JSONSerialization`, or returns `NSNull` for a response that may be
/// empty.
///
/// Objects can be cast to `[String: Any]`, arrays to `[Any]`, and numbers to `Int`, `Double` and similar types, like
/// the results of `JSONSerialization`. `DecodableResponseSerializer` is faster and safer for values of a known form.
public struct JSONResponseSerializer: ResponseSerializer {
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor
    /// The statuses of responses that may have no body.
    public let emptyResponseCodes: Set<Int>
    /// The methods of requests whose responses may have no body.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The options of `JSONSerialization`.
    public let options: JSONSerialization.ReadingOptions

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - options: The options of `JSONSerialization`. Mutable containers and leaves are `NSMutableDictionary`,
    ///     `NSMutableArray` and `NSMutableString`. Foundation on Linux returns the elements of such a container as
    ///     Swift's own types.
    public init(
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
    }

    /// Parses the body.
    ///
    /// - Throws: `jsonSerializationFailed` when the bytes are not JSON, the request's failure, or the error of the
    ///   preprocessor.
    @preconcurrency
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> any Sendable {
        guard let data = try body(request, response, data, error) else { return NSNull() }
        do {
            let tree = try JSONSerialization.jsonObject(with: data, options: options)
            return MutableJSON.isWanted(options) ? MutableJSON.of(tree, options) : try SendableTree.of(tree)
        } catch {
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// A serializer that parses the body as JSON.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }

    /// Returns a serializer for JSON; the parameters are those of ``JSONResponseSerializer``.
    public static func json(
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods, options: options)
    }
}
