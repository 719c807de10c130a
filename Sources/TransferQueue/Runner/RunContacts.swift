import TransferEngine

/// The parts through which users and other processes follow and steer the run: reports, hooks, and the commands of
/// other processes.
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
