public import TransferQueue

/// The operator's job files, which a service runs from its start: their jobs, and the folders that they watch. They are
/// read again on request.
public actor ServedFiles {
    private let reader: ServedFileReader
    /// The watched folders by their paths.
    private var folders: [String: (spec: WatchSpec, folder: WatchedFolder)] = [:]

    /// Creates the collection.
    ///
    /// - Parameters:
    ///   - paths: The paths of job files.
    ///   - directory: The absolute path of the folder to which relative paths in the files refer.
    public init(_ paths: [String], directory: String) {
        reader = ServedFileReader(paths: paths, directory: directory)
    }

    /// The settings from outside the files that apply to them.
    public struct Surroundings: Sendable {
        /// The rules that are merged over the files' `defaults`.
        public var rules = RequestRules()
        /// The commands that the files may name.
        public var hooks = HookSettings()

        /// Creates settings without rules and commands.
        public init() {}
    }

    /// Adds the files' jobs and folders to the queue, before it runs.
    ///
    /// - Returns: The limits in the files; the first file that sets one takes precedence.
    /// - Throws: `TransferError` with the fault of a file.
    public func begin(on queue: JobQueue, _ surroundings: Surroundings = Surroundings()) async throws -> BatchLimits {
        let files = try reader.read(surroundings)
        for file in files where !file.jobs.isEmpty { _ = try await stage(file, queue) }
        for spec in files.flatMap(\.folders) { try await watch(spec, queue) }
        return files.first?.batch.limits ?? BatchLimits()
    }

    /// Reads the files again while the queue runs. New and changed jobs and folders are adopted, and missing folders
    /// are no longer watched. A faulty file changes nothing.
    ///
    /// - Returns: The limits as in ``begin(on:_:)``, and the current numbers of jobs and folders.
    /// - Throws: `TransferError` with the fault of a file.
    public func reload(
        on queue: JobQueue, _ surroundings: Surroundings = Surroundings()
    ) async throws -> (limits: BatchLimits, jobs: Int, folders: Int) {
        let files = try reader.read(surroundings)
        var jobs = 0
        for file in files where !file.jobs.isEmpty {
            let staged = try await stage(file, queue)
            jobs += staged.jobs
            await queue.begin(staged)
        }
        try await exchange(for: files.flatMap(\.folders), queue)
        return (files.first?.batch.limits ?? BatchLimits(), jobs, folders.count)
    }

    /// Stops watching all folders.
    public func stop() async {
        for entry in folders.values { await entry.folder.stop() }
        folders = [:]
    }

    private func exchange(for specs: [WatchSpec], _ queue: JobQueue) async throws {
        let wanted = Dictionary(specs.map { ($0.folder, $0) }) { first, _ in first }
        // Without feeding, an idle batch would end during the moment in which its folder is not watched.
        await queue.setFeeding(true)
        var failure: (any Error)?
        for (path, entry) in folders where wanted[path] != entry.spec {
            await entry.folder.stop()
            folders[path] = nil
        }
        for spec in specs where folders[spec.folder] == nil {
            do {
                try await watch(spec, queue)
            } catch {
                failure = failure ?? error
            }
        }
        await queue.setFeeding(false)
        if let failure { throw failure }
    }

    private func watch(_ spec: WatchSpec, _ queue: JobQueue) async throws {
        folders[spec.folder] = (spec, try await WatchedFolder.start(spec, on: queue))
    }

    private func stage(_ file: ServedFileReader.File, _ queue: JobQueue) async throws -> StagedBatch {
        do {
            return try await queue.stage(
                name: file.batch.name ?? file.source, source: file.source, directory: reader.directory, isReload: true,
                onFinish: file.batch.onFinish
            ) { take in
                for job in file.jobs { try take(job, nil) }
                return true
            }
        } catch StagingError.faults(let report) {
            throw TransferError(.invalidRequest, report.rendered(file: file.path))
        } catch StagingError.held(let batch, let pid) {
            throw TransferError(.fileLocked, "\(batch) is being run by process \(pid)")
        }
    }
}
