import TransferQueue

/// The lookup of jobs and batches by their public names.
enum JobNames {
    /// Returns the job with a gid; a unique prefix of the gid is sufficient.
    ///
    /// - Returns: `nil` where no job has the name, or several begin with it.
    static func job(_ gid: String, in remote: QueueRemote) throws -> JobEntry? {
        let gid = gid.lowercased()
        if gid.utf8.count == 16 { return try JobNumberCode.job.number(gid).flatMap { try remote.job(number: $0) } }
        guard !gid.isEmpty, gid.utf8.count < 16, let numbers = try remote.jobNumbers() else { return nil }
        // The order of names is not that of numbers, so all numbers are checked, without reading the jobs.
        let candidates = numbers.lazy.filter { JobNumberCode.job.name($0).hasPrefix(gid) }.prefix(mostCandidates)
        var selection = JobSelection()
        selection.numbers = Array(candidates)
        selection.limit = 2
        let found = selection.numbers?.isEmpty == false ? try remote.jobs(selection) : []
        return found.count == 1 ? found[0] : nil
    }

    private static let mostCandidates = 1000

    /// Returns the download with a gid, which a client of aria2's interface may have chosen itself.
    ///
    /// - Returns: `nil` where there is none.
    static func download(_ gid: String, in remote: QueueRemote) throws -> JobEntry? {
        let gid = gid.lowercased()
        if let entry = try job(gid, in: remote) { return entry }
        var selection = JobSelection()
        selection.batch = AriaGID.batch
        // A whole gid is found by the index of names; a part of one needs a look at all names.
        if gid.utf8.count == 16 { selection.identity = gid } else { selection.identityPrefix = gid }
        selection.limit = 2
        let found = try remote.jobs(selection).filter { AriaGID.isOne($0.listed.job) }
        return found.count == 1 ? found[0] : nil
    }

    /// Returns the numbers of all batches, by their names.
    static func batchNumbers(in remote: QueueRemote) throws -> [String: Int64] {
        Dictionary(try remote.batchRegister().entries.map { ($0.name, $0.number) }) { first, _ in first }
    }
}
