import Synchronization
import TransferCore
import TransferQueue

/// The job files of a run, read at the beginning, and again when the service is asked to reload.
struct RunPlan: Sendable {
    /// A file's jobs in the queue, and the folders that it watches.
    struct Staged: Sendable {
        var batch: StagedBatch
        var folders: [WatchSpec]
        /// The warnings about keys with another effect than the file suggests.
        var warnings: [String] = []
    }

    /// The files as the user named them.
    let files: [String]
    /// The name of the batch in place of the one in a file.
    let name: String?
    /// The folder in which relative paths begin.
    let directory: String
    /// The rules of the command's options for requests.
    var rules = RequestRules()
    /// The rules for reading the files.
    var list = ListRules()
    /// The commands that files may name as `onFinish`.
    var hooks = HookSettings()
    /// The receiver of the batches' ends, in place of the one that their files name.
    var hook: FinishHook?

    func batchName(_ source: JobFileSource) -> String { name ?? source.batch().name ?? source.realPath }

    /// Refuses two files of one batch.
    ///
    /// - Throws: `Failure` where two files are one batch: the jobs of one would replace those of the other.
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

        /// Discards what was read.
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

    /// Adds a file's jobs to the queue, all or none.
    ///
    /// - Parameters:
    ///   - isReload: Whether the run of the file continues: removed jobs stay in the batch, and unchanged jobs keep
    ///     their state.
    ///   - revoking: A closure that gets, once, the number of changed or missing jobs that workers are asked to
    ///     return.
    /// - Throws: `StagingError.held`, and `Failure` after every fault was reported.
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

    /// Returns all faults within a file, and the folders that it watches, without the queue.
    func check(_ source: JobFileSource) throws -> (report: JobFileReport, folders: [WatchSpec]) {
        let folders = FolderBox()
        let report = try JobChecker(isShared: false).check(batchName(source), directory: directory) { take in
            try source.read(directory: directory, watch: folders.add) { spec, place in try take(spec, place) }
        }
        return (report, folders.specs)
    }

    /// Returns why folders cannot be watched together, although each of them is valid.
    static func conflict(_ folders: [WatchSpec]) -> String? {
        var seen = Set<String>()
        if let twin = folders.first(where: { !seen.insert($0.folder).inserted }) {
            return "\(twin.folder) is watched twice"
        }
        let conflict = FolderConflict.first(among: folders) ?? FolderConflict.sharedDestination(among: folders)
        return conflict?.message
    }
}

/// A container that carries watched folders out of a closure on another thread.
final class FolderBox: Sendable {
    private let entries = Mutex<[(spec: WatchSpec, place: WatchLocations)]>([])
    var specs: [WatchSpec] { entries.withLock { $0.map(\.spec) } }
    func removeAll() { entries.withLock { $0.removeAll() } }
    func add(_ spec: WatchSpec, _ place: WatchLocations) { entries.withLock { $0.append((spec, place)) } }
}
