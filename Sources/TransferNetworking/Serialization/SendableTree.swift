import Foundation

/// The conversion of Foundation's parsed values to `Sendable` types. Foundation returns `Any`, although all contained
/// values may cross threads.
enum SendableTree {
    /// The error for a value of a type that no parser creates.
    struct UnexpectedType: Error, CustomStringConvertible {
        let type: Any.Type
        var description: String { "a value of the type \(type) in what was parsed" }
    }

    /// Converts containers to `[String: any Sendable]` and `[any Sendable]`, which can be cast to `[String: Any]` and
    /// `[Any]`.
    static func of(_ value: Any) throws -> any Sendable {
        switch value {
        case let text as String: return text
        case let number as NSNumber: return number
        case let null as NSNull: return null
        case let flag as Bool: return flag
        case let object as [String: Any]: return try object.mapValues(of)
        case let array as [Any]: return try array.map(of)
        case let date as Date: return date
        case let data as Data: return data
        default: throw UnexpectedType(type: type(of: value))
        }
    }
}
