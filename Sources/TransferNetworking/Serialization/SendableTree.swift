import Foundation

/// Rebuilds what Foundation parsed as a value that may cross threads: what it returns as `Any` is made of values that
/// may, and doesn't say so.
enum SendableTree {
    /// A value of a type that no parser makes.
    struct UnexpectedType: Error, CustomStringConvertible {
        let type: Any.Type
        var description: String { "a value of the type \(type) in what was parsed" }
    }

    /// Containers become `[String: any Sendable]` and `[any Sendable]`, which cast to `[String: Any]` and `[Any]`.
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
