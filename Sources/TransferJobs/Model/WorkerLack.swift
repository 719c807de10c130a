/// The jobs of a shared queue that none of its workers may run.
public struct WorkerLack: Sendable, Hashable {
    /// The tags that the jobs need.
    public var tags: WorkerTags
    /// The number of workers.
    public var workers: Int
    /// The number of jobs.
    public var jobs: Int

    package init(tags: WorkerTags, workers: Int, jobs: Int = 1) {
        self.tags = tags
        self.workers = workers
        self.jobs = jobs
    }

    /// The lack in words: `a worker with the tags eu, gpu; none of the 3 workers has them`.
    public var words: String {
        let (tag, them) = tags.names.count == 1 ? ("tag", "it") : ("tags", "them")
        let who =
            switch workers {
            case 0: "no worker is there"
            case 1: "the only worker does not have \(them)"
            default: "none of the \(workers) workers has \(them)"
            }
        return "a worker with the \(tag) \(tags); \(who)"
    }
}
