import ArgumentParser

/// The options for a watch that has an end.
struct WatchEndOptions: ParsableArguments {
    @Flag(
        help:
            "Take what is in the folder now, and end: by the exit status of run. A file that is being written is waited for with --deadline; else it is left, and the status is 1."
    )
    var once = false

    @Flag(
        name: .customLong("no-ledger"),
        help:
            "With --once: send everything that is in the folder, whatever was sent before, and remember nothing of it.")
    var noLedger = false

    @Option(
        help: ArgumentHelp("With --once: stop after this long; a later run continues.", valueName: "30m"),
        transform: TimeSpan.read)
    var deadline: TimeSpan?

    func validate() throws {
        if deadline != nil, !once {
            throw ValidationError("--deadline goes with --once: a watch goes on until it is stopped")
        }
        if noLedger, !once {
            throw ValidationError("--no-ledger goes with --once: a watch has to remember what it has sent")
        }
    }
}
