import FoundationEssentials
import TransferCore
import TransferQueue

/// The command that goes on with a batch, to be copied.
struct RunAgain {
    /// The job file.
    var file: String
    /// Where it isn't the file's own.
    var name: String?
    /// Where relative paths don't start from the folder that one is in.
    var directory: String?
    /// Where the queue isn't the usual one.
    var state: String?
    /// Options of the run that hold for all of its jobs, such as `-j 8`.
    var options: [String] = []
    /// ``CommandHint/isUTF8``
    var isUTF8 = true

    var command: String {
        var words: [String] = []
        if let name { words += name.hasPrefix("-") ? ["--name=\(name)"] : ["--name", name] }
        if let directory { words += ["-d", directory] }
        return CommandHint(state: state, isUTF8: isUTF8).command("run", file, options: words + options)
    }
}

extension RunAgain {
    /// - Parameter state: As it was named to the command that asks.
    /// - Returns: `nil` for a batch that came from no file.
    init?(_ status: BatchStatus, state: String?) {
        guard let source = status.source else { return nil }
        let own = (try? JobFileSource(source))?.batch().name ?? source
        self.init(
            file: source, name: own == status.name ? nil : status.name,
            directory: status.directory == FileManager.default.currentDirectoryPath ? nil : status.directory,
            state: state, isUTF8: Composition.hint(state: state).isUTF8)
    }
}
