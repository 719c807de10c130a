public import Foundation
public import FoundationNetworking

/// A serializer that returns the body itself, or no bytes for a response that may be empty.
public struct DataResponseSerializer: ResponseSerializer {
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor
    /// The statuses of responses that may have no body.
    public let emptyResponseCodes: Set<Int>
    /// The methods of requests whose responses may have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    public init(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the body.
    ///
    /// - Throws: The request's failure, `inputDataNilOrZeroLength`, or the error of the preprocessor.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Data { try body(request, response, data, error) ?? Data() }
}

/// A serializer that takes no time. It runs on the thread on which the request ended, and reads only the parts of the
/// response that it needs.
protocol QuickSerializer: Sendable {
    associatedtype SerializedObject: Sendable
    var isQuick: Bool { get }
    func serialize(_ ended: EndedRequest) throws -> SerializedObject
}

extension DataResponseSerializer: QuickSerializer {
    var isQuick: Bool { dataPreprocessor is PassthroughPreprocessor }

    func serialize(_ ended: EndedRequest) throws -> Data {
        if ended.error == nil, let data = ended.data, !data.isEmpty { return data }
        return try serialize(
            request: ended.request, response: ended.response, data: ended.data, error: ended.error)
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// A serializer that returns the body itself.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer for the body itself; the parameters are those of ``DataResponseSerializer``.
    public static func data(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataResponseSerializer {
        DataResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
