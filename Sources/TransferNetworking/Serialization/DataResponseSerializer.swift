public import Foundation
public import FoundationNetworking

/// The body itself; no bytes where an answer may be empty.
public struct DataResponseSerializer: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let emptyResponseCodes: Set<Int>
    public let emptyRequestMethods: Set<HTTPMethod>

    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    public init(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Data { try body(request, response, data, error) ?? Data() }
}

/// A serializer that takes no time: it runs where the request ended, and asks of the answer only what it needs.
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
    /// The body itself.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// The body itself; the parameters are those of ``DataResponseSerializer``.
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
