public import Foundation
public import FoundationNetworking

/// A serializer that returns the body as text, or an empty string for a response that may be empty.
///
/// The encoding is the given one, or else the one that the response names, or else ISO-8859-1. An unknown name is
/// ignored.
public struct StringResponseSerializer: ResponseSerializer {
    /// The preprocessor of the bytes.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding of the text; `nil` means the one that the response names, or else ISO-8859-1.
    public let encoding: String.Encoding?
    /// The statuses of responses that may have no body.
    public let emptyResponseCodes: Set<Int>
    /// The methods of requests whose responses may have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor of the bytes.
    ///   - encoding: The encoding of the text; `nil` means the one that the response names, or else ISO-8859-1.
    ///   - emptyResponseCodes: The statuses of responses that may have no body.
    ///   - emptyRequestMethods: The methods of requests whose responses may have no body.
    public init(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.encoding = encoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the body as text.
    ///
    /// - Throws: `stringSerializationFailed` when the bytes are not text in the encoding, the request's failure, or the
    ///   error of the preprocessor.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        guard let data = try body(request, response, data, error) else { return "" }
        let encoding = encoding ?? response?.characterSet.flatMap(String.Encoding.init(characterSet:)) ?? .isoLatin1
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// A serializer that returns the body as text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Returns a serializer for text; the parameters are those of ``StringResponseSerializer``.
    public static func string(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> StringResponseSerializer {
        StringResponseSerializer(
            dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
