import ArgumentParser
import TransferQueue

/// What is special to downloads, whether they come from lists, job files or the command line.
struct DownloadOptions: ParsableArguments {
    @OptionGroup var metalink: MetalinkOptions
    @OptionGroup var coding: CodingOptions
}

/// Whether servers may compress downloads on their way.
struct CodingOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Have servers compress files on their way; they are stored decoded, and begin anew when broken off."))
    var compressed = false

    /// - Throws: `ValidationError` where a file is to have several connections as well.
    func check(_ segments: SegmentsArgument?) throws {
        guard compressed, let count = segments?.count, count > 1 else { return }
        throw ValidationError(
            "--segments and --compressed don't go together: what is compressed on its way has no parts that could be "
                + "asked for")
    }

    /// Lays the option over what lists and job files say by default.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("compressed", compressed ? .true : nil, "--compressed")
        try members.lay(over: &rules)
    }

    /// The option as it was given, to be given again.
    var words: [String] { compressed ? ["--compressed"] : [] }
}
