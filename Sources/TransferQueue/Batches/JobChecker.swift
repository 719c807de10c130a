import TransferJobs
import TransferStore
import TransferStoreSQLite

/// A checker of jobs against each other. It uses its own temporary database and finds the faults that staging would,
/// without touching any queue.
public final class JobChecker {
    private let store: any JobStore
    private let isShared: Bool

    /// Creates a checker.
    ///
    /// - Parameter isShared: Whether the jobs are for a queue that several machines share, or for an unspecified queue.
    ///   Jobs of such a queue may require workers with tags.
    /// - Throws: An error if SQLite cannot make a temporary database.
    public init(isShared: Bool = true) throws {
        self.isShared = isShared
        store = try SQLiteStore()
    }

    /// Checks the jobs of one batch.
    ///
    /// - Parameters:
    ///   - name: The name of the batch.
    ///   - directory: The folder that relative paths start from.
    ///   - body: A function that passes each job to its argument, and returns the faults that the reader of the file
    ///     found.
    /// - Returns: All faults.
    /// - Throws: An error of `body` or of the database; faults of the jobs are not errors.
    public func check(
        _ name: String, directory: String,
        _ body: ((JobSpec, JobLocations?) throws -> Void) throws -> JobFileReport
    ) throws -> JobFileReport {
        var report = JobFileReport()
        let header = BatchHeader(name: name, source: nil, directory: directory)
        var options = StagingOptions()
        options.allowsTags = isShared
        do {
            _ = try store.stage(header, options) { stager in
                report = try body { spec, place in try stager.add(spec, at: place) }
                stager.isPartial = !report.isEmpty
                return true
            }
        } catch StagingFailure.faults(let faults) {
            for fault in faults.faults { report.add(fault) }
        }
        return report
    }
}
