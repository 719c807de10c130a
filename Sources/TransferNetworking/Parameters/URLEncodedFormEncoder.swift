public import Foundation

/// Writes an `Encodable` value as a URL-encoded form (the `application/x-www-form-urlencoded` of the WHATWG's URL
/// standard, with RFC 3986's escaping).
///
/// No standard says how to write nested values, truth, dates or `nil`: a strategy decides for each. `URL`s are written as
/// their text, `Decimal`s with all their digits. Elements of an array keep their order, also when pairs are sorted.
public final class URLEncodedFormEncoder: Sendable {
    /// A reason for which the encoder itself refuses a value.
    public enum Error: Swift.Error, Sendable, LocalizedError {
        /// The value to encode has no names: it's an array, or a single value. The text describes what was given.
        case invalidRootObject(String)

        public var errorDescription: String? {
            switch self {
            case .invalidRootObject(let object): "a form must have names at the top, and this has none: \(object)"
            }
        }
    }

    /// Whether pairs are sorted, so that the same parameters always give the same text.
    ///
    /// Unsorted pairs come in the order in which the value encodes them; that of a dictionary differs each time.
    public let alphabetizeKeyValuePairs: Bool
    public let arrayEncoding: ArrayEncoding
    public let boolEncoding: BoolEncoding
    public let dataEncoding: DataEncoding
    public let dateEncoding: DateEncoding
    public let keyEncoding: KeyEncoding
    public let keyPathEncoding: KeyPathEncoding
    public let nilEncoding: NilEncoding
    public let spaceEncoding: SpaceEncoding
    /// The characters that aren't percent-encoded; only ASCII characters count.
    public let allowedCharacters: CharacterSet

    let escaping: QueryEscaping

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

    /// The value as text, percent-encoded.
    ///
    /// - Throws: ``Error/invalidRootObject(_:)``, or what the value or a strategy throws.
    public func encode(_ value: any Encodable) throws -> String {
        let root = FormNode()
        try FormValueEncoder(root, self, []).encode(value)
        return try write(root, of: value)
    }

    /// The value as the bytes of its text.
    ///
    /// - Throws: ``Error/invalidRootObject(_:)``, or what the value or a strategy throws.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }
}
