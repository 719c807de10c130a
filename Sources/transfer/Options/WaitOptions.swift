import ArgumentParser

/// The options for what a run waits for.
struct WaitOptions: ParsableArguments {
    @Flag(help: "When another process runs the batch, wait for its end first.")
    var wait = false

    @Flag(help: "Bring the jobs into a queue that many machines share (--queue postgres://…), and don't wait for them.")
    var detach = false
}
