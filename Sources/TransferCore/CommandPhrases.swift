import Synchronization

/// The words of errors that only people at the command can use: its options and its verbs. A program that uses the library
/// never gets them; it's told the keys and the calls.
///
/// The command switches them on before it does anything else, and nothing switches them off: an error says the same
/// wherever in the process it was made.
package enum CommandPhrases {
    private static let areSpoken = Atomic(false)

    /// For the command alone.
    package static func speak() { areSpoken.store(true, ordering: .relaxed) }

    /// The words for people at the command, or those for a program.
    package static func choose(_ command: @autoclosure () -> String, _ program: @autoclosure () -> String) -> String {
        areSpoken.load(ordering: .relaxed) ? command() : program()
    }

    /// Words that a program doesn't get.
    package static func only(_ words: @autoclosure () -> String) -> String { choose(words(), "") }

    /// An option beside the key that does the same: ` (--create-folders)`.
    package static func also(_ option: String) -> String { only(" (\(option))") }

    /// The way to repeat a transfer that isn't repeated by itself.
    package static var retry: String { choose("transfer retry", "a retry") }
}
