import TransferCore
import TransferJobs
import TransferStore

/// The refusal of jobs that ask for a worker with tags. A queue of one machine has no such workers, and no other worker
/// may do the job.
enum WorkerRefusal {
    /// - Returns: The reason why the job is not taken; `nil` for a job that is taken.
    static func message(_ spec: JobSpec) -> String? {
        let tags = spec.workerTags
        guard !tags.isEmpty else { return nil }
        let queue = CommandPhrases.choose("transfer run --queue postgres://…", "Fleet.bring")
        let worker = CommandPhrases.choose("transfer work --tags \(tags.text)", "FleetWorker.tags")
        return
            "a worker with the tag\(tags.names.count == 1 ? "" : "s") \(tags) has to do it, and a queue of one machine has "
            + "none; bring it into a queue that many share (\(queue)), where such a worker (\(worker)) takes it"
    }
}
