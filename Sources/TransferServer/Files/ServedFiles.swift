public import TransferQueue

/// Job files of the operator, which a service runs from its start on: their jobs, and the folders that they watch. They are
/// read again when somebody asks for it.
public actor ServedFiles {
    private let reader: ServedFileReader
    /// By their paths.
    private var folders: [String: (spec: WatchSpec, folder: WatchedFolder)] = [:]

    /// - Parameters:
    ///   - paths: Of job files.
    ///   - directory: What the files' relative paths start from; absolute.
    public init(_ paths: [String], directory: String) {
        reader = ServedFileReader(paths: paths, directory: directory)
    }

    /// What is said outside of the files, and holds for them.
    public struct Surroundings: Sendable {
        /// Laid over the files' `defaults`.
        public var rules = RequestRules()
        /// The commands that the files may name.
        public var hooks = HookSettings()

        public init() {}
    }

    /// Takes the files into the queue, before it runs.
    ///
    /// - Returns: What the files say of how much at once: the first one's word counts.
    /// - Throws: `TransferError` that says what is wrong with a file.
    public func begin(on queue: JobQueue, _ surroundings: Surroundings = Surroundings()) async throws -> BatchLimits {
        let files = try reader.read(surroundings)
        for file in files where !file.jobs.isEmpty { _ = try await stage(file, queue) }
        for spec in files.flatMap(\.folders) { try await watch(spec, queue) }
        return files.first?.batch.limits ?? BatchLimits()
    }

    /// Reads the files again while the queue runs: jobs and folders that are new or were changed are taken up, folders that
    /// are gone aren't watched any more. A file with a fault changes nothing.
    ///
    /// - Returns: As ``begin(on:_:)``, and how many jobs and folders there are now.
    /// - Throws: `TransferError` that says what is wrong with a file.
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

    /// Ends the watch of all folders.
    public func stop() async {
        for entry in folders.values { await entry.folder.stop() }
        folders = [:]
    }

    private func exchange(for specs: [WatchSpec], _ queue: JobQueue) async throws {
        let wanted = Dictionary(specs.map { ($0.folder, $0) }) { first, _ in first }
        // A batch with nothing left ends when it isn't watched for a moment.
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
