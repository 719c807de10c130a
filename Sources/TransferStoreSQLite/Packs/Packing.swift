import TransferCore
package import TransferStore

/// A collector of the jobs of a new batch, of which no two have one identity.
package struct Packing: Sendable {
    /// The number of the first job.
    package let first: Int64
    package private(set) var jobs: [StagedJob] = []
    package private(set) var pack = JobPack()
    /// The hashes of the identities; where two are equal, the database compares the jobs.
    private var identities: Set<Int> = []

    package init(first: Int64) { self.first = first }

    /// The number of the next job.
    package var next: Int64 { first + Int64(jobs.count) }

    /// The greatest size in bytes, of about 50,000 jobs, which are also in memory until they are handed on.
    private static let limit = 6 << 20

    /// - Returns: `false` where a job may have that identity already, or the pack is full.
    package mutating func admits(_ job: StagedJob) -> Bool {
        guard pack.bytes.count < Self.limit, let hash = job.identityHash else { return false }
        return identities.insert(hash).inserted
    }

    package mutating func add(_ job: StagedJob) {
        jobs.append(job)
        pack.add(job.row)
    }
}
