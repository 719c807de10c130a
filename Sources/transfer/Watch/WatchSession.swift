import TransferCore
import TransferQueue

/// The folders that a run watches, from its start to its end.
final class WatchSession: Sendable {
    private let queue: JobQueue
    private let reporter: Reporter
    private let service: ServiceManager?
    private let folders: Folders
    /// The end of the watch; `nil` for a watch that continues until it is stopped.
    private let once: WatchOnce?

    /// Whether the watch ends when all existing files are done.
    var endsByItself: Bool { once != nil }

    /// Whether such a watch was ended before that.
    var isCutShort: Bool { once.map { !$0.isOver } ?? false }

    /// Whether a watch that ends automatically left files that are being written.
    var leavesFiles: Bool { once?.leavesFiles ?? false }

    private actor Folders {
        private var watched: [String: WatchedFolder] = [:]
        private var isClosed = false

        func specs() -> [String: WatchSpec] { watched.mapValues(\.spec) }

        /// Adds a folder.
        ///
        /// - Returns: `false` when the run is ending.
        func add(_ folder: WatchedFolder) -> Bool {
            guard !isClosed else { return false }
            watched[folder.spec.folder] = folder
            return true
        }

        func take(_ path: String) -> WatchedFolder? { watched.removeValue(forKey: path) }

        func close() -> [WatchedFolder] {
            isClosed = true
            defer { watched = [:] }
            return Array(watched.values)
        }
    }

    init(_ queue: JobQueue, _ reporter: Reporter, folders: [String], once: WatchOnce? = nil) {
        self.once = once
        self.queue = queue
        self.reporter = reporter
        self.folders = Folders()
        service = ServiceManager(queue, folders: folders) { [reporter] in reporter.watchStatus() }
        if let service { queue.observe { service.receive($0) } }
    }

    /// Takes the folders' batches for this process, to be run with the others.
    ///
    /// - Throws: `Failure` when another process watches one of them.
    private func hold(_ specs: [WatchSpec]) async throws -> [StagedBatch] {
        // A folder of a shared queue belongs to no single process.
        guard !queue.isShared else { return [] }
        var batches: [StagedBatch] = []
        for spec in specs {
            let name = WatchBatch.name(of: spec.folder)
            do {
                // The batch keeps its jobs; the folder adds the rest.
                batches.append(
                    try await queue.stage(name: name, source: nil, directory: "/", keepsWhatIsMissing: true) { _ in
                        true
                    })
            } catch StagingError.held(_, let pid) {
                throw Failure(.workLeft, "\(spec.folder) is being watched by process \(pid)")
            }
        }
        return batches
    }

    /// Takes the folders' batches and begins to watch them.
    ///
    /// - Throws: The errors of ``hold(_:)`` and ``start(_:)``; the queue is closed then.
    func begin(_ specs: [WatchSpec]) async throws -> [StagedBatch] {
        do {
            let batches = try await hold(specs)
            try await start(specs)
            return batches
        } catch {
            await close()
            await queue.close()
            throw error
        }
    }

    /// Begins to watch folders whose batches are held.
    ///
    /// - Throws: `Failure` for a folder that cannot be watched.
    private func start(_ specs: [WatchSpec]) async throws {
        for spec in specs {
            tell(spec.folder, .begins(url: Redaction.url(spec.url)))
            let folder: WatchedFolder
            do {
                folder = try await WatchedFolder.start(spec, on: queue) { [weak self] event in
                    self?.tell(spec.folder, .reported(event))
                }
            } catch let error as TransferError {
                throw Failure(.wrongUsage, "cannot watch \(spec.folder): \(error.message)")
            } catch StagingError.held(_, let pid) {
                throw Failure(.workLeft, "\(spec.folder) is being watched by process \(pid)")
            }
            if await !folders.add(folder) { await folder.stop() }
        }
    }

    /// Changes to other folders, or other rules for the watched ones.
    ///
    /// - Returns: The changes in words; empty when nothing changed.
    /// - Throws: `Failure` when a new folder cannot be watched; the others are.
    func change(to specs: [WatchSpec]) async throws -> [String] {
        // A batch without jobs ends when it is not watched for a moment, and the run would end with the last one.
        await queue.setFeeding(true)
        do {
            let words = try await exchange(for: specs)
            await queue.setFeeding(false)
            return words
        } catch {
            await queue.setFeeding(false)
            throw error
        }
    }

    private func exchange(for specs: [WatchSpec]) async throws -> [String] {
        let old = await folders.specs()
        let wanted = Dictionary(specs.map { ($0.folder, $0) }) { first, _ in first }
        var words: [String] = []
        func note(_ count: Int, _ word: String) {
            if count > 0 { words.append("\(NumberText.count(count, "folder")) \(word)") }
        }
        let gone = old.keys.filter { wanted[$0] == nil }.sorted()
        let changed = specs.filter { old[$0.folder] != nil && old[$0.folder] != $0 }
        let new = specs.filter { old[$0.folder] == nil }
        note(new.count, "added")
        note(changed.count, "changed")
        note(gone.count, "removed")
        // The batches are taken before any change: another process may watch one of the folders.
        let batches = try await hold(new)
        for path in gone + changed.map(\.folder) { await folders.take(path)?.stop() }
        // The queued files of removed folders are still uploaded.
        for path in gone { tell(path, .ended) }
        var failure: (any Error)?
        for spec in changed + new {
            do {
                try await start([spec])
            } catch {
                failure = failure ?? error
            }
        }
        for batch in batches { await queue.begin(batch) }
        if let failure { throw failure }
        return words
    }

    /// Notes that the run has begun, and can be stopped.
    func running() { service?.running() }

    func reloading() { service?.reloading() }

    func reloaded() { service?.reloaded() }

    /// Ends a watch that takes its folders once: no further file is taken up, and the run stops after its hooks were
    /// notified.
    private func endOnce() {
        service?.stopping()
        Task {
            await stopFolders()
            await queue.hooksReported()
            queue.stop()
        }
    }

    /// Ends the watch in order, without waiting: no further file is taken up, and the run is stopped.
    func end() {
        service?.stopping()
        Task {
            await stopFolders()
            queue.stop()
        }
        Task {
            // The process must end soon: a folder whose watch cannot end at once does not delay it.
            try? await Task.sleep(for: .milliseconds(300))
            queue.stop()
        }
    }

    /// Ends the watch; it returns when no folder reports events.
    func close() async {
        service?.stopping()
        await stopFolders()
        await service?.close()
    }

    private func stopFolders() async {
        for folder in await folders.close() { await folder.stop() }
    }

    private func tell(_ folder: String, _ kind: WatchNotice.Kind) {
        let notice = WatchNotice(time: Reporter.wallClock(), folder: folder, kind: kind)
        reporter.receive(notice)
        service?.receive(notice)
        if case .reported(let event) = kind, let once, once.isOver(after: event) { endOnce() }
    }
}
