import ArgumentParser
import TransferQueue

/// How lists and job files are read.
struct ListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Two files of one name: rename (name-2.ext), path (beneath folders named after server and path) or fail.",
            valueName: "rule"), transform: Choice.read)
    var collisions: Choice<Collisions>?

    @Option(
        help: ArgumentHelp("The form of a list, in place of a look at it: \(FormatArgument.form).", valueName: "form"),
        transform: FormatArgument.read)
    var format: FormatArgument?

    /// The options that were given, to be given again.
    var words: [String] {
        var given = GivenOptions()
        given.add("--collisions", collisions?.value.rawValue)
        given.add("--format", format?.word)
        return given.words
    }

    /// - Parameter destination: Where the URLs of lists go.
    func rules(destination: String? = nil) -> ListRules {
        ListRules(collisions: collisions?.value, format: format?.value, destination: destination ?? "./")
    }
}

/// How a list is read, as a command's options say.
struct ListRules: Sendable {
    var collisions: Collisions?
    /// `nil` tells it from the file's name and contents.
    var format: JobFileFormat?
    /// Where URLs go whose list names no file of theirs.
    var destination = "./"
    var metalink = MetalinkRules()
    /// Fetches what is named by a URL.
    var documents = FetchedDocument()
}

/// The form of a list, by its name.
struct FormatArgument: OptionValue {
    let word: String
    let value: JobFileFormat

    private static let formats: KeyValuePairs<String, JobFileFormat> = [
        "urls": .plainURLs, "aria2": .urlList, "curl": .curl, "csv": .csv, "jsonl": .jsonLines, "json": .json,
        "metalink": .metalink,
    ]

    static let form = Wording.alternatives(formats.map(\.key))

    init?(argument: String) {
        guard let format = Self.formats.first(where: { $0.key == argument }) else { return nil }
        word = argument
        value = format.value
    }
}
