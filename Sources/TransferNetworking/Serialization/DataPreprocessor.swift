public import Foundation

/// A preprocessor that changes the bytes of a response before they are serialized.
@preconcurrency
public protocol DataPreprocessor: Sendable {
    /// Returns the changed bytes.
    ///
    /// - Throws: The cause of the serialization's failure, which is reported as `customSerializationFailed` unless it
    ///   is an `AFError`.
    func preprocess(_ data: Data) throws -> Data
}

/// A preprocessor that leaves the bytes unchanged.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Creates a preprocessor.
    public init() {}

    /// Returns the bytes unchanged.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// A preprocessor that removes the line `)]}',` in front of JSON. Google's and other services send it so that a page of
/// another site cannot run the JSON as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Creates a preprocessor.
    public init() {}

    /// Returns the bytes without the line `)]}',` at their beginning.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? Data(data.dropFirst(Self.prefix.count)) : data
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// A preprocessor that leaves the bytes unchanged.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// A preprocessor that removes the line `)]}',` in front of JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
