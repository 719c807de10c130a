public import Foundation

/// A serializer that makes a value of each piece of a stream.
///
/// Pieces have the sizes in which the network delivers them, and a serializer keeps nothing between them. A value that
/// is split between two pieces is not put together again.
@preconcurrency
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Makes a value of a piece.
    ///
    /// - Throws: The failure of the piece, which is reported as `customSerializationFailed` unless it is an `AFError`.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// A serializer that decodes each piece, for servers that send one value at a time.
@preconcurrency
public struct DecodableStreamSerializer<Value: Decodable & Sendable>: DataStreamSerializer {
    /// The decoder of the values.
    public let decoder: any DataDecoder
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - decoder: The decoder; one for JSON by default.
    ///   - dataPreprocessor: The preprocessor of the bytes.
    public init(
        decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// Decodes a piece.
    ///
    /// - Throws: `decodingFailed` with the decoder's error, or the error of the preprocessor.
    public func serialize(_ data: Data) throws -> Value {
        let data = try dataPreprocessor.preprocess(data)
        do { return try decoder.decode(Value.self, from: data) } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

/// A serializer that returns each piece unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the piece unchanged.
    public func serialize(_ data: Data) throws -> Data { data }
}

/// A serializer that returns each piece as UTF-8 text.
///
/// Invalid UTF-8 becomes U+FFFD. This also happens to a character that is split between two pieces, as each piece is
/// decoded separately. Programs that need such text intact take the raw pieces and decode the whole.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the piece as UTF-8 text.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

extension DataStreamSerializer {
    /// Returns a serializer that decodes each piece; the parameters are those of ``DecodableStreamSerializer``.
    @preconcurrency
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DecodableStreamSerializer<Value> where Self == DecodableStreamSerializer<Value> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// A serializer that returns each piece unchanged.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// A serializer that returns each piece as UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
