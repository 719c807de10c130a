/// A job whose transfer is active at a worker, as that worker last reported it.
public struct JobUnderWay: Sendable, Hashable {
    /// The batch's name.
    public let batch: String
    /// The job's identity.
    public let job: String
    /// Whether the job is an upload.
    public let isUpload: Bool
    /// The progress, including the worker that runs the job (``JobProgress/worker``).
    public let progress: JobProgress

    package init(batch: String, job: String, isUpload: Bool, progress: JobProgress) {
        self.batch = batch
        self.job = job
        self.isUpload = isUpload
        self.progress = progress
    }
}
