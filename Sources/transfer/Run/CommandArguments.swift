import CTransferArguments
import TransferQueue

/// The command line in the form that the parser knows.
enum CommandArguments {
    /// Those that the process was given, without its name.
    ///
    /// - Throws: For one that isn't UTF-8, as file names may be: what it would be read as names another file.
    static func given() throws(Failure) -> [String] {
        try (1..<max(1, transfer_argument_count())).map { index throws(Failure) in
            guard let bytes = transfer_argument(index) else { return "" }
            guard let text = String(validatingCString: bytes) else {
                throw Failure(
                    .wrongUsage,
                    "\(String(cString: bytes)): not UTF-8, which the names of files have to be here; rename it")
            }
            return text
        }
    }

    /// Joins what people write as two words: an option whose value may be left out (`--json=progress`), and a value of
    /// two words (`--then move DIR`). An empty value (`--proxy=`) becomes a word of its own: the parser would take the next
    /// word in its place.
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
            case _ where argument.hasPrefix("--") && argument.firstIndex(of: "=") == argument.indices.last:
                result += [String(argument.dropLast()), ""]
            default: result.append(argument)
            }
        }
        return result
    }
}

/// `keep`, `delete` or `move DIR`.
struct ThenArgument: OptionValue {
    static let move = "move"

    let value: WatchSpec.Then

    static let form = "keep, delete, or move and a folder, such as --then move /srv/sent"

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
