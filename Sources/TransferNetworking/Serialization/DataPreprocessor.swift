public import Foundation

/// Changes the bytes of an answer before they're made into a value.
@preconcurrency
public protocol DataPreprocessor: Sendable {
    /// - Throws: What makes the serialization fail, as `customSerializationFailed` unless it's an `AFError`.
    func preprocess(_ data: Data) throws -> Data
}

/// Leaves the bytes as they are.
public struct PassthroughPreprocessor: DataPreprocessor {
    public init() {}

    public func preprocess(_ data: Data) throws -> Data { data }
}

/// Takes off the line `)]}',` that Google's and other services put in front of JSON, so that a page of another site
/// can't run it as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    public init() {}

    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? Data(data.dropFirst(Self.prefix.count)) : data
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// Leaves the bytes as they are.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Takes off the line `)]}',` in front of JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
