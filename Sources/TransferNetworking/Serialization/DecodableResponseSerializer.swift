public import Foundation
public import FoundationNetworking

/// A serializer that decodes the body. For a response that may be empty, the type has to be an `EmptyResponse`.
@preconcurrency
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor
    /// The decoder of the value.
    public let decoder: any DataDecoder
    /// The statuses of responses that may have no body.
    public let emptyResponseCodes: Set<Int>
    /// The methods of requests whose responses may have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - decoder: The decoder; one for JSON by default.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
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

    /// Decodes the body.
    ///
    /// - Throws: The request's failure, or the error of the preprocessor. `decodingFailed` contains the decoder's
    ///   error. `invalidEmptyResponse` means that an empty response is permitted, but the type has no value for it.
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
    /// Returns a serializer that decodes the body; the parameters are those of ``DecodableResponseSerializer``.
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
