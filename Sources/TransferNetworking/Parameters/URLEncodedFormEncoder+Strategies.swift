public import Foundation

extension URLEncodedFormEncoder {
    /// The notation of an array element's name.
    public enum ArrayEncoding: Sendable {
        /// Names are written as `key[]`.
        case brackets
        /// Names are written as `key`.
        case noBrackets
        /// Names are written as `key[0]`.
        case indexInBrackets
        /// A closure writes each name.
        @preconcurrency
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }

    /// The notation of truth values.
    public enum BoolEncoding: Sendable {
        /// Values are written as `1` and `0`.
        case numeric
        /// Values are written as `true` and `false`.
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// The notation of bytes.
    public enum DataEncoding: Sendable {
        /// `Data` encodes itself, as an array of numbers.
        case deferredToData
        /// Bytes are written in Base64 (RFC 4648 §4).
        case base64
        /// A closure writes the bytes.
        @preconcurrency
        case custom(@Sendable (Data) throws -> String)

        /// Returns the text; `nil` leaves the encoding to `Data`.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    /// The notation of dates.
    public enum DateEncoding: Sendable {
        /// `Date` encodes itself, as seconds since the first moment of 2001, UTC.
        case deferredToDate
        /// Dates are written as seconds since the first moment of 1970, UTC.
        case secondsSince1970
        /// Dates are written as milliseconds since the first moment of 1970, UTC.
        case millisecondsSince1970
        /// Dates are written like `2001-01-01T00:00:00Z` (ISO 8601, RFC 3339).
        case iso8601
        /// A formatter writes the dates; it must not be changed afterwards.
        case formatted(DateFormatter)
        /// A closure writes the dates.
        @preconcurrency
        case custom(@Sendable (Date) throws -> String)

        /// Returns the text; `nil` leaves the encoding to `Date`.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: String(date.timeIntervalSince1970)
            case .millisecondsSince1970: String(date.timeIntervalSince1970 * 1000)
            case .iso8601: date.formatted(.iso8601)
            case .formatted(let formatter): formatter.string(from: date)
            case .custom(let encode): try encode(date)
            }
        }
    }

    /// The notation that joins a nested name to the name of its parent.
    public struct KeyPathEncoding: Sendable {
        /// Nested names are written as `parent[child]`.
        public static let brackets = KeyPathEncoding { "[\($0)]" }
        /// Nested names are written as `parent.child`.
        public static let dots = KeyPathEncoding { ".\($0)" }

        private let encoding: @Sendable (_ subkey: String) -> String

        /// Creates a notation.
        ///
        /// - Parameter encoding: A closure that turns the nested name into the text after the parent's name.
        @preconcurrency
        public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { self.encoding = encoding }

        func encodeKeyPath(_ subkey: String) -> String { encoding(subkey) }
    }

    /// The notation of `nil`, which includes optional properties and elements of collections.
    public struct NilEncoding: Sendable {
        /// A `nil` is dropped together with its name.
        public static let dropKey = NilEncoding { nil }
        /// A `nil` is written as a name without a value: `key=`.
        public static let dropValue = NilEncoding { "" }
        /// A `nil` is written as `key=null`.
        public static let null = NilEncoding { "null" }

        private let encoding: @Sendable () -> String?

        /// Creates a notation.
        ///
        /// - Parameter encoding: A closure that returns the value; `nil` drops the name too.
        @preconcurrency
        public init(encoding: @escaping @Sendable () -> String?) { self.encoding = encoding }

        func encodeNil() -> String? { encoding() }
    }

    /// The notation of spaces.
    public enum SpaceEncoding: Sendable {
        /// Spaces are written as `%20`.
        case percentEscaped
        /// Spaces are written as `+`.
        case plusReplaced

        var text: String {
            switch self {
            case .percentEscaped: "%20"
            case .plusReplaced: "+"
            }
        }
    }
}
