/// The result of taking jobs in.
struct StagedJobs: Sendable {
    let batch: HeldBatch
    let count: Int
    let secrets: [Int64: JobSecrets]
    /// Jobs of other content now that this process works on by what they were: nothing was taken, and they have to be
    /// given back first.
    var underWay: Set<Int64> = []
    /// Uploads of which servers hold parts that nobody will go on with.
    var abandoned: [AbandonedUpload] = []
    /// Jobs that were taken at once, where they were.
    var reserve: JobReserve?
}
