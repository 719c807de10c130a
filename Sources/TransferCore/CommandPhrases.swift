import Synchronization

/// The parts of error messages for users of the command: its options and its verbs. A program that uses the library
/// gets the names of keys and calls instead.
///
/// The command switches these parts on before anything else, and nothing switches them off. An error message is thus
/// the same wherever in the process it is created.
package enum CommandPhrases {
    private static let areSpoken = Atomic(false)

    /// Switches the parts on. Only the command calls this function.
    package static func speak() { areSpoken.store(true, ordering: .relaxed) }

    /// Returns the words for users of the command, or those for a program.
    package static func choose(_ command: @autoclosure () -> String, _ program: @autoclosure () -> String) -> String {
        areSpoken.load(ordering: .relaxed) ? command() : program()
    }

    /// Returns words that only users of the command get.
    package static func only(_ words: @autoclosure () -> String) -> String { choose(words(), "") }

    /// Returns an option to add to the key with the same meaning: ` (--create-folders)`.
    package static func also(_ option: String) -> String { only(" (\(option))") }

    /// The way to repeat a transfer that is not repeated automatically.
    package static var retry: String { choose("transfer retry", "a retry") }
}
