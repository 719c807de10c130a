public import Foundation
public import FoundationNetworking

/// A serializer that parses the body as a property list of any format by `PropertyListSerialization`. A response that
/// may be empty yields `NSNull`.
///
/// Dictionaries can be cast to `[String: Any]`, arrays to `[Any]`, and numbers to `Int`, `Double` and similar types.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor
    /// The statuses of responses that may have no body.
    public let emptyResponseCodes: Set<Int>
    /// The methods of requests whose responses may have no body.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The options of `PropertyListSerialization`.
    public let options: PropertyListSerialization.ReadOptions

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    ///   - options: The options of `PropertyListSerialization`. Those for mutable containers have no effect, as mutable
    ///     objects cannot cross threads.
    public init(
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = []
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
    }

    /// Parses the body.
    ///
    /// - Throws: `customSerializationFailed` when the bytes are not a property list, the request's failure, or the
    ///   error of the preprocessor.
    @preconcurrency
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> any Sendable {
        guard let data = try body(request, response, data, error) else { return NSNull() }
        do {
            let options = options.subtracting([.mutableContainers, .mutableContainersAndLeaves])
            return try SendableTree.of(
                PropertyListSerialization.propertyList(from: data, options: options, format: nil))
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// A serializer that parses the body as a property list.
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }

    /// Returns a serializer for property lists; the parameters are those of ``PropertyListResponseSerializer``.
    public static func propertyList(
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods, options: options)
    }
}
