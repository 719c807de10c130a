public import Foundation
public import FoundationNetworking

/// The body as a property list of any format, parsed by `PropertyListSerialization`; `NSNull` where an answer may be
/// empty.
///
/// Dictionaries cast to `[String: Any]`, arrays to `[Any]`, numbers to `Int`, `Double` and the like.
public struct PropertyListResponseSerializer: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let emptyResponseCodes: Set<Int>
    public let emptyRequestMethods: Set<HTTPMethod>
    public let options: PropertyListSerialization.ReadOptions

    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    ///   - options: Those that ask for mutable containers have no effect: mutable objects can't cross threads.
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

    /// - Throws: `customSerializationFailed` when the bytes are no property list.
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
    /// The body as a property list.
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }

    /// The body as a property list; the parameters are those of ``PropertyListResponseSerializer``.
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
