import TransferJobs

/// The jobs that have a slot, and facts about jobs that are never stored.
struct RunningJobs {
    private var jobs: [Int64: RunningJob] = [:]
    var secrets: [Int64: JobSecrets] = [:]
    var traces = AttemptHistory()

    subscript(id: Int64) -> RunningJob? {
        get { jobs[id] }
        set { jobs[id] = newValue }
    }

    var values: Dictionary<Int64, RunningJob>.Values { jobs.values }
    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }
}
