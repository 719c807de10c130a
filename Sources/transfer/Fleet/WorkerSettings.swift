import Synchronization
import TransferQueue

/// The configuration of a worker, which is read again on request, and the limits that follow from it and the options.
final class WorkerSettings: Sendable {
    private let options: ConfigurationOptions
    private let given: LimitOptions
    private let current: Mutex<Configuration>

    /// - Throws: `Failure` for an unusable file.
    init(_ options: ConfigurationOptions, _ given: LimitOptions) throws(Failure) {
        self.options = options
        self.given = given
        current = Mutex(try options.load())
    }

    var configuration: Configuration { current.withLock { $0 } }
    var limits: BatchLimits { given.merged(with: BatchLimits(), configuration) }

    /// Reads the files again.
    ///
    /// - Throws: `Failure` for an unusable file, which changes nothing.
    func reload() throws(Failure) {
        let read = try options.load()
        current.withLock { $0 = read }
    }
}
