import TransferJobs
import TransferStore
import TransferStoreSQLite

/// Checks jobs against each other, in a database of its own: what staging them would find, without touching any queue.
public final class JobChecker {
    private let store: any JobStore
    private let isShared: Bool

    /// - Parameter isShared: Whether the jobs are for a queue that many machines share, or for whichever: they may ask for
    ///   workers with tags then.
    /// - Throws: When SQLite can't make a temporary database.
    public init(isShared: Bool = true) throws {
        self.isShared = isShared
        store = try SQLiteStore()
    }

    /// - Parameter body: Calls its argument for each job, and returns what the reader of the file found.
    /// - Returns: Everything that is wrong.
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
