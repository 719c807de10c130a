public import Foundation
public import FoundationNetworking

/// The body as JSON, parsed by `JSONSerialization`; `NSNull` where an answer may be empty.
///
/// Objects cast to `[String: Any]`, arrays to `[Any]`, numbers to `Int`, `Double` and the like, as what
/// `JSONSerialization` returns. `DecodableResponseSerializer` is quicker and safer for what has a known form.
public struct JSONResponseSerializer: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let emptyResponseCodes: Set<Int>
    public let emptyRequestMethods: Set<HTTPMethod>
    public let options: JSONSerialization.ReadingOptions

    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - options: Mutable containers and leaves are `NSMutableDictionary`, `NSMutableArray` and `NSMutableString`;
    ///     what is taken out of such a container, Foundation hands out as Swift's own on Linux.
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

    /// - Throws: `jsonSerializationFailed` when the bytes are no JSON.
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
    /// The body as JSON.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }

    /// The body as JSON; the parameters are those of ``JSONResponseSerializer``.
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
