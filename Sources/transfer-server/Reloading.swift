import ServiceLifecycle
import TransferEventLoop
import TransferQueue
import TransferServer
import UnixSignals

/// The service that reads the configuration and the job files again at each SIGHUP. A fault is reported, and leaves
/// everything unchanged.
struct Reloading: Service, CustomStringConvertible {
    let files: ServedFiles
    let configuration: ConfigurationOptions
    let bounds: BoundOptions
    let environment: [String: String]
    let queue: JobQueue
    let server: TransferServer
    let notify: SystemdNotify?
    /// The last limits from the files. Limits set by clients stay while the files' limits do not change.
    let limits: BatchLimits

    var description: String { "Reloading" }

    func run() async throws {
        var limits = limits
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            notify?.send(.reloading(at: .now))
            do {
                try await reload(&limits)
            } catch let error as TransferError {
                StandardStreams.tell("transfer serve: \(error.message)\ntransfer serve: continuing as before")
            }
            notify?.send(.ready)
        }
    }

    private func reload(_ limits: inout BatchLimits) async throws {
        let set = try configuration.load()
        let surroundings = Surroundings.of(set, environment)
        let read = try await files.reload(on: queue, surroundings)
        queue.setHooks(surroundings.hooks, set)
        let new = bounds.limits(read.limits, set)
        if new != limits { server.setLimits(new) }
        limits = new
        StandardStreams.tell(
            "transfer serve: read again: \(CountText.words(read.jobs, "job")), \(CountText.words(read.folders, "folder"))"
        )
    }
}

/// The configuration's settings for the operator's job files.
enum Surroundings {
    static func of(_ configuration: Configuration, _ environment: [String: String]) -> ServedFiles.Surroundings {
        var surroundings = ServedFiles.Surroundings()
        surroundings.rules.configuration = configuration
        surroundings.hooks.environment = HookSettings.harmless(environment)
        for (name, words) in configuration.commands { surroundings.hooks.commands[name] = HookCommand(words) }
        return surroundings
    }
}
