import TransferCore
import TransferQueue

/// The end of a batch, collected while it runs: the failures by reason and host, with two names for each.
///
/// The memory does not grow with the jobs: beyond `mostGroups` reasons and hosts, failures are only counted.
struct EndReport: Sendable {
    struct Group: Sendable {
        var reason: String
        var host: String
        var count = 0
        /// The first two names.
        var names: [String] = []
    }

    private struct Key: Hashable, Sendable {
        var reason: String
        var host: String
    }

    static let mostGroups = 1000
    static let shownGroups = 10

    /// The batch's name for people.
    let batch: String
    /// The batch's name for commands to copy, which remain valid later.
    let lasting: String
    /// The builder of the commands to copy.
    let hint: CommandHint
    /// The last reported totals.
    private(set) var totals = BatchTotals()
    private(set) var duration: Duration?
    private(set) var uploads = 0
    /// The number of complete files whose completeness is unproven.
    private(set) var unproven = 0
    /// The first two names of those files.
    private(set) var unprovenNames: [String] = []
    /// The number of files that were kept because their servers confirmed them.
    private(set) var confirmed = 0
    private var groups: [Key: Group] = [:]
    /// The number of failures beyond `mostGroups`.
    private(set) var ungrouped = 0
    /// The first failed jobs with their groups, as a user may retry one.
    private var failed: [String: Key] = [:]

    /// Creates a report.
    ///
    /// - Parameter lasting: The name for commands; by default `batch`.
    init(batch: String, lasting: String? = nil, hint: CommandHint = CommandHint()) {
        self.batch = batch
        self.lasting = lasting ?? batch
        self.hint = hint
    }

    var isFinished: Bool { duration != nil }

    mutating func receive(_ event: QueueEvent) {
        switch event.kind {
        case .batchStarted(let totals):
            self = EndReport(batch: batch, lasting: lasting, hint: hint)
            self.totals = totals
        case .batchProgress(let progress): totals = progress.totals
        case .batchFinished(let totals, let duration):
            self.totals = totals
            self.duration = duration
        case .finished(let receipt):
            uploads += receipt.isUpload ? 1 : 0
            guard receipt.isLengthUnproven else { return }
            unproven += 1
            if unprovenNames.count < 2 { unprovenNames.append(receipt.job) }
        case .kept(let receipt): confirmed += receipt.isConfirmed ? 1 : 0
        case .failed(let failure): add(failure)
        // The job is a watched folder's file that is tried again.
        case .started(let job, _): if failed[job] != nil { forget(job) }
        case .commanded(.retry, let job), .commanded(.retryFailed, let job): forget(job)
        default: break
        }
    }

    private mutating func add(_ failure: JobFailure) {
        let key = Key(reason: FailureText.reason(failure), host: FailureText.host(failure))
        if groups[key] == nil, groups.count >= Self.mostGroups {
            ungrouped += 1
            return
        }
        if failed.count < Self.mostGroups { failed[failure.job] = key }
        var group = groups[key] ?? Group(reason: key.reason, host: key.host)
        group.count += 1
        if group.names.count < 2 { group.names.append(FailureText.name(failure)) }
        groups[key] = group
    }

    /// Forgets failures that are retried: all of them, or that of one job.
    private mutating func forget(_ job: String?) {
        guard let job else {
            (groups, failed, ungrouped) = ([:], [:], 0)
            return
        }
        guard let key = failed.removeValue(forKey: job), var group = groups[key] else { return }
        group.count -= 1
        group.names.removeAll { $0 == job }
        groups[key] = group.count > 0 ? group : nil
    }

    /// The groups, the largest first.
    var sortedGroups: [Group] {
        groups.values.sorted { ($1.count, $0.reason, $0.host) < ($0.count, $1.reason, $1.host) }
    }
}
