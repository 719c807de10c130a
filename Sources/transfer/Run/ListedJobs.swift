import TransferQueue

/// The jobs of lists that were read. A list may name one file twice, which is one job.
struct ListedJobs {
    private var seen: Set<Int64> = []
    /// The number of jobs that were the same as earlier ones.
    private(set) var repeated = 0

    /// Notes a job.
    ///
    /// - Returns: Whether an earlier job of a list is the same.
    mutating func notes(_ spec: JobSpec, _ place: JobLocations) -> Bool {
        guard place.format.isList, !seen.insert(spec.fingerprint).inserted else { return false }
        repeated += 1
        return true
    }
}
