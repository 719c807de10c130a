import Foundation

/// What `JSONSerialization` makes where mutable containers or leaves are asked for: Foundation's on Linux takes no
/// notice of those options.
enum MutableJSON {
    typealias Options = JSONSerialization.ReadingOptions

    static func isWanted(_ options: Options) -> Bool {
        options.contains(.mutableContainers) || options.contains(.mutableLeaves)
    }

    /// - Parameter tree: From `JSONSerialization`. What is made of it belongs to the one handler that gets it.
    static func of(_ tree: Any, _ options: Options) -> any Sendable {
        let made: Any = mutable(tree, options)
        // `Sendable` has no members, so that both types are laid out alike; and nobody else refers to the objects.
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
