import ArgumentParser
import FoundationEssentials
import TransferQueue

/// The options that select the configuration files.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The only configuration file to read. By default, ~/.config/transfer/config.json and "
                + "/etc/transfer/config.json are read.",
            valueName: "file"))
    var file: String?

    @Flag(name: .customLong("no-config"), help: "Read no configuration file.")
    var isOff = false

    func validate() throws {
        if isOff, file != nil { throw ValidationError("--config and --no-config do not go together") }
    }

    /// Returns the configuration from the files.
    ///
    /// - Throws: `TransferError` for a file that cannot be used.
    func load() throws -> Configuration {
        let sources = ConfigurationSource.all(
            only: file, isOff: isOff, environment: ProcessInfo.processInfo.environment,
            folder: FileManager.default.currentDirectoryPath)
        return Configuration(try sources.compactMap(Self.read))
    }

    private static func read(_ source: ConfigurationSource) throws -> ConfigurationFile? {
        do throws(ConfigurationSource.Fault) {
            return try source.read()
        } catch {
            switch error {
            case .unreadable(let message): throw TransferError(.invalidRequest, message)
            case .faulty(let report, _): throw TransferError(.invalidRequest, report.rendered(file: source.path))
            }
        }
    }
}
