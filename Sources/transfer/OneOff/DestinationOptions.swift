import ArgumentParser
import TransferQueue

/// The options of `get` for the destinations of its files.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The folder to put the files into.", valueName: "dir"),
        completion: .directory, transform: PathArgument.text)
    var directory: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, for one URL. For many, a path with {host}, {path}, {name}, {ext}, {n}, {date} or "
                + "{query}. - is standard output.",
            valueName: "file"), completion: .file(), transform: PathArgument.text)
    var output: String?

    /// Whether the path of each file is derived from its URL.
    var isTemplate: Bool { output.map(DestinationNames.hasPlaces) ?? false }
}
