import ArgumentParser
import TransferQueue

/// The command line in the form that the parser knows.
enum CommandArguments {
    /// Joins what people write as two words: an option whose value may be left out (`--json=progress`), and a value of
    /// two words (`--then move DIR`).
    static func normalized(_ arguments: [String]) -> [String] {
        var result: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--": return result + [argument] + rest
            case "--json=progress": result.append("--json-progress")
            case "--then" where rest.count > 1 && rest.first == ThenArgument.move:
                rest.removeFirst()
                result.append("--then=\(ThenArgument.move) \(rest.removeFirst())")
            default: result.append(argument)
            }
        }
        return result
    }
}

/// `keep`, `delete` or `move DIR`.
struct ThenArgument: ExpressibleByArgument {
    static let move = "move"

    let value: WatchSpec.Then

    init?(argument: String) {
        switch argument {
        case "keep": value = .keep
        case "delete": value = .delete
        default:
            let prefix = Self.move + " "
            guard argument.hasPrefix(prefix), argument.utf8.count > prefix.utf8.count else { return nil }
            value = .move(to: String(argument.dropFirst(prefix.count)))
        }
    }
}
