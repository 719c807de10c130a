import ArgumentParser

/// The options for a watch that has an end.
struct WatchEndOptions: ParsableArguments {
    @Flag(
        help: """
            Upload the files that are in the folder now, and end with the exit status of run. With --deadline, \
            files that are being written are waited for. Otherwise they are left, and the status is 1.
            """
    )
    var once = false

    @Flag(
        name: .customLong("no-ledger"),
        help: """
            With --once: upload all files of the folder, also files that were uploaded before, and record \
            nothing of it.
            """)
    var noLedger = false

    @Option(
        help: ArgumentHelp("With --once: stop after this time; a later run continues.", valueName: "30m"),
        transform: TimeSpan.read)
    var deadline: TimeSpan?

    func validate() throws {
        if deadline != nil, !once {
            throw ValidationError("--deadline goes with --once: a watch runs until it is stopped")
        }
        if noLedger, !once {
            throw ValidationError("--no-ledger goes with --once: a watch has to remember what it has sent")
        }
    }
}
