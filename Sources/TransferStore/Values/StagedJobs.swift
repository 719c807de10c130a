package import TransferJobs

/// The result of taking jobs into a batch.
package struct StagedJobs: Sendable {
    package let batch: HeldBatch
    package let count: Int
    package let secrets: [Int64: JobSecrets]
    /// Jobs with new content whose former content this process is transferring. Where there are any, nothing was taken,
    /// and they must be given back first.
    package var underWay: Set<Int64> = []
    /// Uploads of which servers hold parts that will not be continued.
    package var abandoned: [AbandonedUpload] = []
    /// The number of ready jobs, by lane, where that is known without a query: all of a new batch.
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
