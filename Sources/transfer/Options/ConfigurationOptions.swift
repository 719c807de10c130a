import ArgumentParser
import TransferCore
import TransferQueue

/// The options for the configuration files.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The only configuration file to read. By default, ~/.config/transfer/config.json and "
                + "/etc/transfer/config.json are read.",
            valueName: "file"), completion: .file(), transform: PathArgument.text)
    var file: String?

    @Flag(name: .customLong("no-config"), help: "Read no configuration file.")
    var isOff = false

    func validate() throws {
        if isOff, file != nil { throw ValidationError("--config and --no-config do not go together") }
    }

    func add(to given: inout GivenOptions) {
        given.add("--config", file)
        given.add("--no-config", isOff)
    }

    /// The files that are read, the weakest first.
    var sources: [ConfigurationSource] { ConfigurationSource.all(only: file, isOff: isOff) }

    /// Reads the files.
    ///
    /// - Throws: `Failure` for an unusable file.
    func load() throws(Failure) -> Configuration {
        var files: [ConfigurationFile] = []
        for source in sources { if let file = try source.load() { files.append(file) } }
        return Configuration(files)
    }
}

extension RequestRules {
    /// Returns the initial settings of a job with these URLs.
    ///
    /// - Throws: `Failure` for files of a configuration that contradict each other.
    func start(for urls: [String]) throws(Failure) -> JobDefaults {
        do throws(TransferError) {
            return try beginning(for: urls)
        } catch {
            throw Failure(.invalidJobFile, error.message)
        }
    }
}
