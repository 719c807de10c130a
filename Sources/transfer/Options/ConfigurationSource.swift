import TransferCore
import TransferQueue

// Configuration files as the command reads them.
extension ConfigurationSource {
    /// The machine's file and the user's, the weakest first.
    ///
    /// - Parameter file: The one file that is named.
    static func all(only file: String?, isOff: Bool) -> [ConfigurationSource] {
        all(only: file, isOff: isOff, environment: Composition.environment, folder: Composition.workingFolder)
    }

    /// - Returns: `nil` where there is no file.
    /// - Throws: `Failure` for one that can't be read, that others can write, or that has a fault.
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
