public import Foundation

/// Makes a value of each piece of a stream.
///
/// Pieces are as the network brings them, and a serializer keeps nothing from one to the next: a value that is split
/// between two pieces is not put together again.
@preconcurrency
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Throws: What the piece's result fails with, as `customSerializationFailed` unless it's an `AFError`.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// Each piece, decoded: for servers that send one value at a time.
@preconcurrency
public struct DecodableStreamSerializer<Value: Decodable & Sendable>: DataStreamSerializer {
    public let decoder: any DataDecoder
    public let dataPreprocessor: any DataPreprocessor

    /// - Parameters:
    ///   - decoder: Of JSON, unless it's another one.
    ///   - dataPreprocessor: Changes the bytes first.
    public init(
        decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// - Throws: `decodingFailed` with what the decoder threw, and what the preprocessor throws.
    public func serialize(_ data: Data) throws -> Value {
        let data = try dataPreprocessor.preprocess(data)
        do { return try decoder.decode(Value.self, from: data) } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

/// Each piece as it came.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    public init() {}

    public func serialize(_ data: Data) throws -> Data { data }
}

/// Each piece as text in UTF-8.
///
/// Bytes that are no UTF-8 become U+FFFD. That happens too where a character is split between two pieces, as each piece
/// is read by itself: to get such text unharmed, take the pieces as they come and decode them when they are whole.
public struct StringStreamSerializer: DataStreamSerializer {
    public init() {}

    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

extension DataStreamSerializer {
    /// Each piece, decoded; the parameters are those of ``DecodableStreamSerializer``.
    @preconcurrency
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DecodableStreamSerializer<Value> where Self == DecodableStreamSerializer<Value> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Each piece as it came.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Each piece as text in UTF-8.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
