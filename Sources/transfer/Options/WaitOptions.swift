import ArgumentParser

/// The options for what a run waits for.
struct WaitOptions: ParsableArguments {
    @Flag(help: "When another process runs the batch, wait for the end of that run first.")
    var wait = false

    @Flag(
        help: """
            Add the jobs to a queue that many machines share (--queue postgres://…), and do not wait for their \
            end.
            """)
    var detach = false
}
