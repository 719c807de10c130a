import TransferQueue

/// Failed jobs, grouped by their reason and host.
struct FailureGroups: Sendable {
    struct Group: Sendable {
        let code: String
        let host: String?
        let batch: String
        /// The message of the group's first job.
        let message: String
        var count = 0
        var examples: [String] = []
    }

    /// The name of a job.
    struct Name: Sendable, Hashable {
        let batch: String
        let job: String
    }

    private struct Key: Hashable {
        let code: String
        let host: String?
        let batch: String
    }

    /// The maximum number of jobs considered of one batch.
    static let most = 100_000
    private static let mostExamples = 3

    /// The groups, the largest first.
    let all: [Group]

    /// The number of failed jobs that are in no group.
    let hidden: Int

    /// Groups failed jobs.
    ///
    /// - Parameter names: The jobs to leave out.
    init(_ failures: [FailedJob], hiding names: Set<Name> = []) {
        var groups: [Key: Group] = [:]
        var count = 0
        for job in failures {
            guard names.isEmpty || !names.contains(Name(batch: job.batch, job: job.job)) else {
                count += 1
                continue
            }
            let key = Key(code: job.code, host: job.host, batch: job.batch)
            var group = groups[key] ?? Group(code: job.code, host: job.host, batch: job.batch, message: job.message)
            group.count += 1
            if group.examples.count < Self.mostExamples { group.examples.append(job.job) }
            groups[key] = group
        }
        hidden = count
        all = groups.values.sorted { ($0.count, $1.code) > ($1.count, $0.code) }
    }
}
