/// What this process knows of jobs and never stores.
struct JobMemory {
    var secrets: [Int64: JobSecrets] = [:]
    var traces = AttemptTraces()
}
