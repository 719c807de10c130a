/// An option of curl, wget, aria2 or rclone, with its equivalent in this command.
struct ForeignOption: Sendable {
    enum Answer: Sendable {
        /// The option is the normal behaviour here: no option is needed.
        case always(String)
        /// The words have the same meaning here, and take the option's place.
        case same([String])
        /// An option with another name has the same value; it is only suggested for commands that have it.
        case option(String)
        /// An option counts attempts without the first one, which the other tool counts.
        case tries(String)
        /// A key of the job file replaces the option, with an example of its value.
        case key(String)
        /// The option names a list in that tool's format, which is the value of `--format`.
        case list(String)
        /// The command has no such feature, or another way to it.
        case words(String)
    }

    /// The names as they are typed: `-A`, `--user-agent`.
    let names: [String]
    /// The kind of the option's value.
    enum Value: Sendable {
        case nothing, anything
        /// The value begins with a digit: tools use one letter for different options.
        case number
        /// The value is a number of seconds.
        case seconds
    }

    let value: Value
    let answer: Answer

    init(_ names: String, _ answer: Answer) {
        let words = names.split(separator: " ").map(String.init)
        value =
            switch words.last {
            case "=": .anything
            case "=#": .number
            case "=s": .seconds
            default: .nothing
            }
        self.names = words.filter { $0.hasPrefix("-") }
        self.answer = answer
    }

    /// Whether the value may be a URL: for other options a URL is what they transfer.
    var takesURL: Bool { names.contains { ["--proxy", "--referer"].contains($0) } }
}
