import ArgumentParser
import TransferQueue

/// The option that lets servers compress downloads for the transfer.
struct CodingOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Ask servers to compress files in transit. The files are stored decoded, and start again after an "
                + "interruption."))
    var compressed = false

    /// Checks the combination with other options.
    ///
    /// - Throws: `ValidationError` where a file is to have several connections as well.
    func check(_ segments: SegmentsArgument?) throws {
        guard compressed, let count = segments?.count, count > 1 else { return }
        throw ValidationError(
            "--segments and --compressed do not go together: what is compressed on its way has no parts that could be "
                + "asked for")
    }

    /// Applies the option over the defaults of lists and job files.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("compressed", compressed ? .true : nil, "--compressed")
        try members.lay(over: &rules)
    }

    /// The given option, for another command line.
    var words: [String] { compressed ? ["--compressed"] : [] }
}
