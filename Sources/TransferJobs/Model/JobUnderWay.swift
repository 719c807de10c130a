/// A job whose transfer is under way at a worker, as that worker told of it last.
public struct JobUnderWay: Sendable, Hashable {
    public let batch: String
    public let job: String
    public let isUpload: Bool
    /// With the worker that has it (``JobProgress/worker``).
    public let progress: JobProgress

    package init(batch: String, job: String, isUpload: Bool, progress: JobProgress) {
        self.batch = batch
        self.job = job
        self.isUpload = isUpload
        self.progress = progress
    }
}
