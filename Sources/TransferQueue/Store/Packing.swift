import TransferCore

/// Gathers the jobs of a new batch, of which no two have one identity.
struct Packing: Sendable {
    /// The number of the first one.
    let first: Int64
    private(set) var jobs: [StagedJob] = []
    private(set) var pack = JobPack()
    private var identities: Set<PathKey> = []

    init(first: Int64) { self.first = first }

    /// The number of the next one.
    var next: Int64 { first + Int64(jobs.count) }

    /// Bytes; more is of no use to anybody in one piece.
    private static let limit = 16 << 20

    /// - Returns: `false` where a job has that identity already, or may have it in the database, to which a text ends at its
    ///   first NUL.
    mutating func admits(_ row: JobRow) -> Bool {
        pack.bytes.count < Self.limit && !row.identity.utf8.contains(0)
            && identities.insert(PathKey(row.identity)).inserted
    }

    mutating func add(_ job: StagedJob) {
        jobs.append(job)
        pack.add(job.row)
    }
}
