package import TransferJobs

/// The result of taking jobs in.
package struct StagedJobs: Sendable {
    package let batch: HeldBatch
    package let count: Int
    package let secrets: [Int64: JobSecrets]
    /// Jobs of other content now that this process works on by what they were: nothing was taken, and they have to be
    /// given back first.
    package var underWay: Set<Int64> = []
    /// Uploads of which servers hold parts that nobody will go on with.
    package var abandoned: [AbandonedUpload] = []
    /// How many jobs are ready, by lane, where that is known without asking: all of a batch that is new.
    package var ready: [Lane: Int]?

    package init(
        batch: HeldBatch, count: Int, secrets: [Int64: JobSecrets], underWay: Set<Int64> = [],
        abandoned: [AbandonedUpload] = [], ready: [Lane: Int]? = nil
    ) {
        self.batch = batch
        self.count = count
        self.secrets = secrets
        self.underWay = underWay
        self.abandoned = abandoned
        self.ready = ready
    }
}
