import TransferCore
import TransferQueue

// The reading of configuration files by the command.
extension ConfigurationSource {
    /// Returns the machine's file and the user's, the weakest first.
    ///
    /// - Parameter file: The one file that an option names.
    static func all(only file: String?, isOff: Bool) -> [ConfigurationSource] {
        all(only: file, isOff: isOff, environment: Composition.environment, folder: Composition.workingFolder)
    }

    /// Reads the file.
    ///
    /// - Returns: `nil` where there is no file.
    /// - Throws: `Failure` for a file that cannot be read, that other users can write, or that has a fault.
    func load() throws(Failure) -> ConfigurationFile? {
        do throws(ConfigurationSource.Fault) {
            return try read()
        } catch {
            switch error {
            case .unreadable(let message): throw Failure(.unreadableJobFile, message)
            case .faulty(_, isList: true):
                let command = "transfer get -i \(ShellWord.quoted(path)) --format curl"
                throw Failure(.wrongUsage, "--config takes a configuration, and this is a list of curl's: \(command)")
            case .faulty(let report, isList: false): throw Failure(report: report, file: path)
            }
        }
    }
}
