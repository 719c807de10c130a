/// An option of curl, wget, aria2 or rclone, and what does here what it does there.
struct ForeignOption: Sendable {
    enum Answer: Sendable {
        /// It's done anyway: nothing has to be said, and nothing changes.
        case always(String)
        /// An option of another name with the same value; of those commands that have it.
        case option(String)
        /// An option with a number of attempts of which the first is none, as it is one for the other tool.
        case tries(String)
        /// A key of the job file, with an example of its value.
        case key(String)
        /// A list in the form of that tool, which is named as `--format` names it.
        case list(String)
        /// There is no such thing, or it goes another way.
        case words(String)
    }

    /// As they are typed: `-A`, `--user-agent`.
    let names: [String]
    /// What follows it.
    enum Value: Sendable {
        case nothing, anything
        /// Something that begins with a digit: tools use one letter for different things.
        case number
    }

    let value: Value
    let answer: Answer

    init(_ names: String, _ answer: Answer) {
        let words = names.split(separator: " ").map(String.init)
        value = words.last == "=" ? .anything : words.last == "=#" ? .number : .nothing
        self.names = words.filter { $0.hasPrefix("-") }
        self.answer = answer
    }

    /// Whether what follows may be a URL: of others that is what they move.
    var takesURL: Bool { names.contains { ["--proxy", "--referer"].contains($0) } }
}
