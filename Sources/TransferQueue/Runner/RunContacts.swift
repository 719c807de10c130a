import TransferEngine

/// The parts by which others hear of the run and steer it: reports, hooks, and the commands of other processes.
struct RunContacts {
    let reporter: Reporter
    let hooks: Hooks
    let commands = CommandPerformer()

    init(_ tools: RunTools) {
        reporter = Reporter(interval: tools.configuration.progressInterval)
        hooks = Hooks(
            tools.configuration, engine: tools.engine, builder: tools.builder, accept: tools.accept)
    }
}
