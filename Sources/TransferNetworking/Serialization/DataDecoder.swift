public import Foundation

/// A decoder of values from bytes, such as Foundation's decoders.
@preconcurrency
public protocol DataDecoder: Sendable {
    /// Decodes a value.
    ///
    /// - Throws: The cause of the serialization's failure, which is reported as `decodingFailed`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}

extension PropertyListDecoder: DataDecoder {}
