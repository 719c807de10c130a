public import Foundation

/// An encoder that writes an `Encodable` value as a URL-encoded form. The form is the WHATWG URL standard's
/// `application/x-www-form-urlencoded`, with RFC 3986's escaping.
///
/// No standard defines the notation of nested values, truth values, dates or `nil`: a strategy decides for each. A
/// `URL` is written as its text, a `Decimal` with all its digits. Elements of an array keep their order even if pairs
/// are sorted.
public final class URLEncodedFormEncoder: Sendable {
    /// The reason for which the encoder itself refuses a value.
    public enum Error: Swift.Error, Sendable, LocalizedError {
        /// The value has no names, as it is an array or a single value. The text describes the value.
        case invalidRootObject(String)

        public var errorDescription: String? {
            switch self {
            case .invalidRootObject(let object): "a form must have names at the top, and this has none: \(object)"
            }
        }
    }

    /// Whether pairs are sorted, so that equal parameters always yield equal text.
    ///
    /// Unsorted pairs have the order in which the value encodes them; the order of a dictionary differs each time.
    public let alphabetizeKeyValuePairs: Bool
    /// The notation of an array element's name.
    public let arrayEncoding: ArrayEncoding
    /// The notation of truth values.
    public let boolEncoding: BoolEncoding
    /// The notation of bytes.
    public let dataEncoding: DataEncoding
    /// The notation of dates.
    public let dateEncoding: DateEncoding
    /// The notation of names.
    public let keyEncoding: KeyEncoding
    /// The notation of nested names.
    public let keyPathEncoding: KeyPathEncoding
    /// The notation of `nil`.
    public let nilEncoding: NilEncoding
    /// The notation of spaces.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not percent-encoded; only ASCII characters count.
    public let allowedCharacters: CharacterSet

    let escaping: QueryEscaping

    /// Creates an encoder; the parameters are the properties of the same names.
    public init(
        alphabetizeKeyValuePairs: Bool = true, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric, dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate, keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped, allowedCharacters: CharacterSet = .afURLQueryAllowed
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        self.allowedCharacters = allowedCharacters
        escaping = QueryEscaping(allowedCharacters)
    }

    /// Returns the value as percent-encoded text.
    ///
    /// - Throws: ``Error/invalidRootObject(_:)``, or the error of the value or a strategy.
    public func encode(_ value: any Encodable) throws -> String {
        let root = FormNode()
        try FormValueEncoder(root, self, []).encode(value)
        return try write(root, of: value)
    }

    /// Returns the value as the bytes of its percent-encoded text.
    ///
    /// - Throws: ``Error/invalidRootObject(_:)``, or the error of the value or a strategy.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }
}
