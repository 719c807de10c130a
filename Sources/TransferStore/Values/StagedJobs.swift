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
    /// How many jobs are ready, by lane, where that is known without asking: all of a batch that is new.
    var ready: [Lane: Int]?
}
