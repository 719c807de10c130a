public import Foundation

/// Decodes a value from bytes: Foundation's decoders do.
@preconcurrency
public protocol DataDecoder: Sendable {
    /// - Throws: What makes the serialization fail, as `decodingFailed`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}

extension PropertyListDecoder: DataDecoder {}
