import TransferCore
package import TransferStore

/// Gathers the jobs of a new batch, of which no two have one identity.
package struct Packing: Sendable {
    /// The number of the first one.
    package let first: Int64
    package private(set) var jobs: [StagedJob] = []
    package private(set) var pack = JobPack()
    /// Hashes: of two jobs with the same one the database sees whether they are the same.
    private var identities: Set<Int> = []

    package init(first: Int64) { self.first = first }

    /// The number of the next one.
    package var next: Int64 { first + Int64(jobs.count) }

    /// Bytes, of some 50,000 jobs, which are in memory as well until they are handed on.
    private static let limit = 6 << 20

    /// - Returns: `false` where a job may have that identity already.
    package mutating func admits(_ job: StagedJob) -> Bool {
        guard pack.bytes.count < Self.limit, let hash = job.identityHash else { return false }
        return identities.insert(hash).inserted
    }

    package mutating func add(_ job: StagedJob) {
        jobs.append(job)
        pack.add(job.row)
    }
}
