public import Foundation
public import FoundationNetworking

/// The body, decoded. Where an answer may be empty, its type has to be an `EmptyResponse`.
@preconcurrency
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let decoder: any DataDecoder
    public let emptyResponseCodes: Set<Int>
    public let emptyRequestMethods: Set<HTTPMethod>

    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes first.
    ///   - decoder: Of JSON, unless it's another one.
    ///   - emptyResponseCodes: Statuses of answers without a body.
    ///   - emptyRequestMethods: Methods whose answers have no body.
    public init(
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// - Throws: `decodingFailed` with what the decoder threw; `invalidEmptyResponse` when the answer is rightly empty
    ///   and the type has no value for that.
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

extension ResponseSerializer {
    /// The body, decoded; the parameters are those of ``DecodableResponseSerializer``.
    @preconcurrency
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DecodableResponseSerializer<Value> where Self == DecodableResponseSerializer<Value> {
        DecodableResponseSerializer(
            dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
