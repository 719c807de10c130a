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

    init(_ failures: [FailedJob]) {
        var groups: [Key: Group] = [:]
        for job in failures {
            let key = Key(code: job.code, host: job.host, batch: job.batch)
            var group = groups[key] ?? Group(code: job.code, host: job.host, batch: job.batch, message: job.message)
            group.count += 1
            if group.examples.count < Self.mostExamples { group.examples.append(job.job) }
            groups[key] = group
        }
        all = groups.values.sorted { ($0.count, $1.code) > ($1.count, $0.code) }
    }
}
