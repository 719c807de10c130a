public import Foundation
public import FoundationNetworking

/// Decodes a value from bytes: `JSONDecoder` does.
public protocol DataDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}

/// A type with a value for answers that have no body.
public protocol EmptyResponse: Sendable {
    static func emptyValue() -> Self
}

/// The value of an answer without a body, for requests that expect none.
public struct Empty: Codable, Sendable, EmptyResponse {
    public static let value = Empty()
    public static func emptyValue() -> Empty { value }
    public init() {}
}

/// The body, decoded.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    public typealias SerializedObject = Value
    public let decoder: any DataDecoder
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        guard let data = try body(request, response, data, error) else {
            guard let empty = Value.self as? any EmptyResponse.Type, let value = empty.emptyValue() as? Value else {
                throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(Value.self)"))
            }
            return value
        }
        do { return try decoder.decode(Value.self, from: data) } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

/// Where the file is, without reading it.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    public init() {}

    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}
