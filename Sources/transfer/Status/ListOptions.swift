import ArgumentParser
import TransferQueue

/// The options for reading lists and job files.
struct ListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The rule for two files of one name: rename (name-2.ext), path (in folders named after server and path) or "
                + "fail.",
            valueName: "rule"), completion: .list(Choice<Collisions>.names), transform: Choice.read)
    var collisions: Choice<Collisions>?

    @Option(
        help: ArgumentHelp(
            "The format of a list, in place of its detection: \(FormatArgument.form).", valueName: "form"),
        transform: FormatArgument.read)
    var format: FormatArgument?

    /// The given options, for another command line.
    var words: [String] {
        var given = GivenOptions()
        given.add("--collisions", collisions?.value.rawValue)
        given.add("--format", format?.word)
        return given.words
    }

    /// Returns the rules for reading.
    ///
    /// - Parameter destination: The destination of the URLs in lists.
    func rules(destination: String? = nil) -> ListRules {
        ListRules(collisions: collisions?.value, format: format?.value, destination: destination ?? "./")
    }
}

/// The rules for reading a list, from a command's options.
struct ListRules: Sendable {
    var collisions: Collisions?
    /// The format; `nil` derives it from the file's name and content.
    var format: JobFileFormat?
    /// The destination of URLs for which the list names no file.
    var destination = "./"
    var metalink = MetalinkRules()
    /// The reader of documents that are named by URLs.
    var documents = FetchedDocument()
}

/// The format of a list, by its name.
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
