public import Foundation
public import FoundationNetworking

/// Makes a value of the answer to a `DataRequest`.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameter error: The request's failure; a serializer that has no answer to it throws it.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject
}

/// Makes a value of the file of a `DownloadRequest`.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameter error: The request's failure; a serializer that has no answer to it throws it.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer of both kinds, with rules for answers that may be empty.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
{
    /// Methods whose answers have no body; HEAD by default.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// Statuses of answers without a body; 204 and 205 by default (RFC 9110 §15.3).
    var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { [.head] }
    public static var defaultEmptyResponseCodes: Set<Int> { [204, 205] }
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether an answer without a body is one as it should be.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        request?.method.map(emptyRequestMethods.contains) == true
            || response.map { emptyResponseCodes.contains($0.statusCode) } == true
    }

    /// Reads the file into memory.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        guard let data = try? Data(contentsOf: fileURL) else {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }

    /// The body, or `nil` where it's rightly missing.
    func body(_ request: URLRequest?, _ response: HTTPURLResponse?, _ data: Data?, _ error: (any Error)?) throws
        -> Data?
    {
        if let error { throw error }
        if let data, !data.isEmpty { return data }
        guard emptyResponseAllowed(forRequest: request, response: response) else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return nil
    }
}

/// The body itself.
public struct DataResponseSerializer: ResponseSerializer {
    public typealias SerializedObject = Data
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Data { try body(request, response, data, error) ?? Data() }
}

/// The body as text: in the given encoding, else in the one that the answer names, else ISO-8859-1.
public struct StringResponseSerializer: ResponseSerializer {
    public typealias SerializedObject = String
    public let encoding: String.Encoding?
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.encoding = encoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        guard let data = try body(request, response, data, error) else { return "" }
        let encoding = encoding ?? response?.textEncodingName.flatMap(Self.encoding) ?? .isoLatin1
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// The names that servers use (IANA's registry of character sets).
    private static func encoding(_ name: String) -> String.Encoding? {
        switch name.lowercased() {
        case "utf-8", "utf8": .utf8
        case "us-ascii", "ascii": .ascii
        case "iso-8859-1", "latin1": .isoLatin1
        case "iso-8859-2": .isoLatin2
        case "windows-1252": .windowsCP1252
        case "utf-16": .utf16
        case "utf-16be": .utf16BigEndian
        case "utf-16le": .utf16LittleEndian
        case "utf-32": .utf32
        case "shift_jis": .shiftJIS
        case "euc-jp": .japaneseEUC
        default: nil
        }
    }
}
