import TransferCore
import TransferJobs
import TransferStore

/// Jobs that ask for a worker with tags, in a queue of one machine: it has no such workers, and who wrote the job wants it done
/// by nobody else.
enum WorkerRefusal {
    /// - Returns: The reason why the job isn't taken; `nil` for one that is.
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
