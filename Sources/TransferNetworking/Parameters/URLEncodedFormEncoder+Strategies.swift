public import Foundation

extension URLEncodedFormEncoder {
    /// How the name of an array's element is written.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`
        case indexInBrackets
        /// By a closure.
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

    /// How truth is written.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// How bytes are written.
    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: an array of numbers.
        case deferredToData
        /// As Base64 (RFC 4648 §4).
        case base64
        /// By a closure.
        @preconcurrency
        case custom(@Sendable (Data) throws -> String)

        /// `nil` leaves it to `Data`.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    /// How dates are written.
    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: seconds since the first moment of 2001, UTC.
        case deferredToDate
        /// Seconds since the first moment of 1970, UTC.
        case secondsSince1970
        /// Milliseconds since the first moment of 1970, UTC.
        case millisecondsSince1970
        /// As `2001-01-01T00:00:00Z` (ISO 8601, RFC 3339).
        case iso8601
        /// By a formatter, which must not be changed afterwards.
        case formatted(DateFormatter)
        /// By a closure.
        @preconcurrency
        case custom(@Sendable (Date) throws -> String)

        /// `nil` leaves it to `Date`.
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

    /// How a nested name is joined to the name it belongs to.
    public struct KeyPathEncoding: Sendable {
        /// `parent[child]`
        public static let brackets = KeyPathEncoding { "[\($0)]" }
        /// `parent.child`
        public static let dots = KeyPathEncoding { ".\($0)" }

        private let encoding: @Sendable (_ subkey: String) -> String

        /// - Parameter encoding: Makes of the nested name what stands after its parent's.
        @preconcurrency
        public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { self.encoding = encoding }

        func encodeKeyPath(_ subkey: String) -> String { encoding(subkey) }
    }

    /// How `nil` is written, optional properties and elements of collections included.
    public struct NilEncoding: Sendable {
        /// Not at all.
        public static let dropKey = NilEncoding { nil }
        /// As a name without a value: `key=`.
        public static let dropValue = NilEncoding { "" }
        /// As `key=null`.
        public static let null = NilEncoding { "null" }

        private let encoding: @Sendable () -> String?

        /// - Parameter encoding: Gives the value; `nil` drops the name with it.
        @preconcurrency
        public init(encoding: @escaping @Sendable () -> String?) { self.encoding = encoding }

        func encodeNil() -> String? { encoding() }
    }

    /// How spaces are written.
    public enum SpaceEncoding: Sendable {
        /// `%20`
        case percentEscaped
        /// `+`
        case plusReplaced

        var text: String {
            switch self {
            case .percentEscaped: "%20"
            case .plusReplaced: "+"
            }
        }
    }
}
