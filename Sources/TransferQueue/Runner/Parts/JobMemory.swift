import TransferJobs

/// Facts about jobs that this process knows and never stores.
struct JobMemory {
    var secrets: [Int64: JobSecrets] = [:]
    var traces = AttemptTraces()
}
