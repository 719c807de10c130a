/// Jobs of a queue that several workers share, which none of these may do.
public struct WorkerLack: Sendable, Hashable {
    /// The tags that the jobs ask for.
    public var tags: WorkerTags
    /// The workers that there are.
    public var workers: Int
    public var jobs: Int

    package init(tags: WorkerTags, workers: Int, jobs: Int = 1) {
        self.tags = tags
        self.workers = workers
        self.jobs = jobs
    }

    /// `a worker with the tags eu, gpu; none of the 3 workers has them`
    public var words: String {
        let (tag, them) = tags.names.count == 1 ? ("tag", "it") : ("tags", "them")
        let who =
            switch workers {
            case 0: "no worker is there"
            case 1: "the only worker doesn't have \(them)"
            default: "none of the \(workers) workers has \(them)"
            }
        return "a worker with the \(tag) \(tags); \(who)"
    }
}
