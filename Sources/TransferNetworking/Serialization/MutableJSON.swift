import Foundation

/// The results of `JSONSerialization` with mutable containers or leaves, as Foundation on Linux ignores the options for
/// those.
enum MutableJSON {
    typealias Options = JSONSerialization.ReadingOptions

    static func isWanted(_ options: Options) -> Bool {
        options.contains(.mutableContainers) || options.contains(.mutableLeaves)
    }

    /// - Parameter tree: The result of `JSONSerialization`. The mutable copy belongs to the one handler that receives
    ///   it.
    static func of(_ tree: Any, _ options: Options) -> any Sendable {
        let made: Any = mutable(tree, options)
        // `Sendable` has no requirements, so that both types have the same layout. No other code refers to the objects.
        return unsafeBitCast(made as Any, to: (any Sendable).self)
    }

    private static func mutable(_ tree: Any, _ options: Options) -> Any {
        switch tree {
        case let text as String: return options.contains(.mutableLeaves) ? NSMutableString(string: text) : text
        case let object as [String: Any]:
            let members = object.mapValues { mutable($0, options) }
            return options.contains(.mutableContainers) ? NSMutableDictionary(dictionary: members) : members
        case let array as [Any]:
            let elements = array.map { mutable($0, options) }
            return options.contains(.mutableContainers) ? NSMutableArray(array: elements) : elements
        default: return tree
        }
    }
}
