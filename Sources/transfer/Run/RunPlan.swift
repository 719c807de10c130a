import Synchronization
import TransferCore
import TransferQueue

/// The job files of a run, read from the beginning, and again when the service is told to.
struct RunPlan: Sendable {
    /// A file's jobs in the queue, and the folders that it watches.
    struct Staged: Sendable {
        var batch: StagedBatch
        var folders: [WatchSpec]
        /// Warnings of keys that work otherwise than the file says.
        var warnings: [String] = []
    }

    /// As the user named them.
    let files: [String]
    /// Instead of the one that a file has.
    let name: String?
    /// What relative paths start from.
    let directory: String
    /// What the command's options say of requests.
    var rules = RequestRules()
    /// How the files are read.
    var list = ListRules()
    /// The commands that files may name as `onFinish`.
    var hooks = HookSettings()
    /// Who is told of the batches' ends instead of whom their files name.
    var hook: FinishHook?

    func batchName(_ source: JobFileSource) -> String { name ?? source.batch().name ?? source.realPath }

    /// - Throws: `Failure` where two files are one batch: the jobs of one would take the place of the other's.
    func refuseTwins(_ sources: [JobFileSource]) throws {
        var files: [String: String] = [:]
        for source in sources {
            let batch = batchName(source)
            if let other = files[batch] {
                throw Failure(
                    .invalidJobFile,
                    "\(other) and \(source.name) are both the batch \"\(batch)\"; give one of them another \"name\"")
            }
            files[batch] = source.name
        }
    }

    /// A file that is being read.
    struct Reading: Sendable {
        let source: JobFileSource
        fileprivate let outcome: ReportBox
        fileprivate let folders: FolderBox
        fileprivate let jobs: JobReading

        /// Lets go of what was read already.
        func abandon() { jobs.abandon() }
    }

    /// Begins to read a file's jobs.
    func read(_ source: JobFileSource) -> Reading {
        let (outcome, folders, directory) = (ReportBox(), FolderBox(), directory)
        let jobs = JobReading(directory: directory) { take in
            folders.removeAll()
            let report = try source.read(directory: directory, watch: folders.add) { spec, place in
                try take(spec, place)
            }
            outcome.set(report)
            return report.isEmpty
        }
        return Reading(source: source, outcome: outcome, folders: folders, jobs: jobs)
    }

    /// Takes a file's jobs into the queue, all or none.
    ///
    /// - Parameters:
    ///   - isReload: The run of the file goes on: what isn't in it any more stays in the batch, and what is in it unchanged
    ///     stays as it is.
    ///   - recalling: Called, once, where workers are asked for jobs that were changed or are missing: with their number.
    /// - Throws: `StagingError.held`, and `Failure` with every fault told.
    func stage(
        _ reading: Reading, on queue: JobQueue, isReload: Bool = false,
        revoking: @Sendable (_ jobs: Int) -> Void = { _ in }
    ) async throws -> Staged {
        let source = reading.source
        do {
            let spec = source.batch()
            let batch = try await queue.stage(
                reading.jobs, name: name ?? spec.name ?? source.realPath, source: source.realPath,
                keepsWhatIsMissing: isReload, isReload: isReload,
                onFinish: hook.map { BatchHook($0, settings: rules.settings) } ?? spec.onFinish, revoking: revoking)
            return Staged(
                batch: batch, folders: reading.folders.specs, warnings: reading.outcome.report.warnings)
        } catch StagingError.refused {
            throw Failure(report: reading.outcome.report, file: source.name)
        } catch StagingError.faults(let report) {
            throw Failure(report: report, file: source.name)
        }
    }

    /// Everything that is wrong with a file by itself, and the folders that it watches; touches no queue.
    func check(_ source: JobFileSource) throws -> (report: JobFileReport, folders: [WatchSpec]) {
        let folders = FolderBox()
        let report = try JobChecker(isShared: false).check(batchName(source), directory: directory) { take in
            try source.read(directory: directory, watch: folders.add) { spec, place in try take(spec, place) }
        }
        return (report, folders.specs)
    }

    /// Why folders can't be watched together; each by itself is in order.
    static func conflict(_ folders: [WatchSpec]) -> String? {
        var seen = Set<String>()
        if let twin = folders.first(where: { !seen.insert($0.folder).inserted }) {
            return "\(twin.folder) is watched twice"
        }
        let conflict = FolderConflict.first(among: folders) ?? FolderConflict.sharedDestination(among: folders)
        return conflict?.message
    }
}

/// Carries watched folders out of a closure that runs on another thread.
final class FolderBox: Sendable {
    private let entries = Mutex<[(spec: WatchSpec, place: WatchLocations)]>([])
    var specs: [WatchSpec] { entries.withLock { $0.map(\.spec) } }
    func removeAll() { entries.withLock { $0.removeAll() } }
    func add(_ spec: WatchSpec, _ place: WatchLocations) { entries.withLock { $0.append((spec, place)) } }
}
