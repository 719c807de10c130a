import TransferCore
package import TransferJobs
import TransferWatch

/// The part of an upload history that a decision is about: versions of files, their jobs, and the changes that rules
/// have made to them. A store reads it, and writes its changes in the same transaction.
package struct UploadHistoryGraph: Sendable {
    package private(set) var entries: [Int64: UploadHistoryEntry] = [:]
    package private(set) var jobs: [Int64: UploadHistoryJob] = [:]
    private var entriesOfPath: [PathKey: Set<Int64>] = [:]
    private var jobsOfEntry: [Int64: Set<Int64>] = [:]

    /// The first number of rows that are not stored yet. They are numbered in the order in which they came.
    private static let firstNew = Int64.max / 2
    private var next = firstNew

    private var changedEntries: Set<Int64> = []
    private var changedJobs: [Int64: UploadHistoryJob.Change] = [:]
    package private(set) var removedEntries: [Int64] = []
    /// The stored jobs to remove, and whether their servers are asked to drop the data of the upload.
    package private(set) var removedJobs: [(id: Int64, abandons: Bool)] = []

    package init() {}

    // MARK: Reading

    /// Adds a stored version. A version that is already present is not changed.
    package mutating func load(_ entry: UploadHistoryEntry) {
        guard entries[entry.id] == nil else { return }
        entries[entry.id] = entry
        entriesOfPath[PathKey(entry.version.path), default: []].insert(entry.id)
    }

    /// Adds a stored job. A job that is already present is not changed.
    package mutating func load(_ job: UploadHistoryJob) {
        guard jobs[job.id] == nil else { return }
        jobs[job.id] = job
        jobsOfEntry[job.entry, default: []].insert(job.id)
    }

    package static func isNew(_ id: Int64) -> Bool { id >= firstNew }

    package func entries(ofPath path: String) -> [UploadHistoryEntry] {
        (entriesOfPath[PathKey(path)] ?? []).compactMap { entries[$0] }.sorted { $0.id < $1.id }
    }

    /// Returns the jobs of a version: the job that it names, and an open job that continues under the file's former
    /// name.
    package func jobs(ofEntry id: Int64) -> [UploadHistoryJob] {
        let named = entries[id]?.job
        return (jobsOfEntry[id] ?? []).compactMap { jobs[$0] }.filter { $0.isOpen || $0.id == named }
            .sorted { $0.id < $1.id }
    }

    package func jobs(ofPath path: String) -> [UploadHistoryJob] {
        entries(ofPath: path).filter { $0.job != nil }.flatMap { jobs(ofEntry: $0.id) }
    }

    /// Returns the jobs that wait for the end of a job.
    package func followers(of job: Int64) -> [UploadHistoryJob] {
        jobs.values.filter { $0.follows == job }.sorted { $0.id < $1.id }
    }

    // MARK: Changes

    package mutating func change(_ id: Int64, _ change: (inout UploadHistoryEntry) -> Void) {
        guard var entry = entries[id] else { return }
        let before = entry
        change(&entry)
        // Two versions are equal whatever their files' times of the last change of anything are.
        guard entry != before || entry.version.stamp != before.version.stamp else { return }
        if before.version.path != entry.version.path || PathKey(before.version.path) != PathKey(entry.version.path) {
            entriesOfPath[PathKey(before.version.path)]?.remove(id)
            entriesOfPath[PathKey(entry.version.path), default: []].insert(id)
        }
        entries[id] = entry
        if !Self.isNew(id) { changedEntries.insert(id) }
    }

    package mutating func add(_ make: (_ id: Int64) -> UploadHistoryEntry) -> Int64 {
        let entry = make(next)
        next += 1
        load(entry)
        return entry.id
    }

    package mutating func remove(entry id: Int64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entriesOfPath[PathKey(entry.version.path)]?.remove(id)
        changedEntries.remove(id)
        if !Self.isNew(id) { removedEntries.append(id) }
    }

    package mutating func add(_ make: (_ id: Int64) -> UploadHistoryJob) -> Int64 {
        let job = make(next)
        next += 1
        load(job)
        return job.id
    }

    package mutating func change(
        job id: Int64, _ kind: UploadHistoryJob.Change, _ change: (inout UploadHistoryJob) -> Void = { _ in }
    ) {
        guard var job = jobs[id] else { return }
        change(&job)
        jobs[id] = job
        guard !Self.isNew(id) else { return }
        // A renewed job is written as a whole anyway.
        if case .renewed? = changedJobs[id] { return }
        changedJobs[id] = kind
    }

    /// Notes the state that the store has given a job in the same transaction.
    package mutating func note(_ state: JobState, ofJob id: Int64) { jobs[id]?.state = state }

    /// Removes a job.
    ///
    /// - Parameter abandons: Whether the job's server is asked to drop the data that it holds of the upload.
    package mutating func remove(job id: Int64, abandons: Bool = true) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        jobsOfEntry[job.entry]?.remove(id)
        changedJobs[id] = nil
        if !Self.isNew(id) { removedJobs.append((id, abandons)) }
    }

    /// Makes jobs ready whose predecessor has ended.
    ///
    /// - Returns: The jobs that became ready.
    package mutating func releaseFollowers() -> [UploadHistoryJob] {
        var ready: [UploadHistoryJob] = []
        for job in jobs.values.sorted(by: { $0.id < $1.id }) {
            guard let followed = job.follows, jobs[followed]?.isOpen != true else { continue }
            change(job: job.id, .order) {
                $0.follows = nil
                if $0.state == .blocked { $0.state = .queued }
            }
            if let job = jobs[job.id], job.state == .queued { ready.append(job) }
        }
        return ready
    }

    // MARK: Changes to write

    package var updatedEntries: [UploadHistoryEntry] { changedEntries.sorted().compactMap { entries[$0] } }

    package var newEntries: [UploadHistoryEntry] {
        entries.values.filter { Self.isNew($0.id) }.sorted { $0.id < $1.id }
    }

    package var updatedJobs: [(job: UploadHistoryJob, change: UploadHistoryJob.Change)] {
        changedJobs.sorted { $0.key < $1.key }.compactMap { id, change in jobs[id].map { ($0, change) } }
    }

    package var newJobs: [UploadHistoryJob] { jobs.values.filter { Self.isNew($0.id) }.sorted { $0.id < $1.id } }
}
