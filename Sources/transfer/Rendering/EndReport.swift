import TransferCore
import TransferQueue

/// How a batch ended, gathered while it runs: the failures by reason and host, with two names for each.
///
/// Its memory doesn't grow with the jobs: beyond `mostGroups` reasons and hosts, failures are only counted.
struct EndReport: Sendable {
    struct Group: Sendable {
        var reason: String
        var host: String
        var count = 0
        /// The first two.
        var names: [String] = []
    }

    private struct Key: Hashable, Sendable {
        var reason: String
        var host: String
    }

    static let mostGroups = 1000
    static let shownGroups = 10

    /// As it's called where people read it.
    let batch: String
    /// As it's called in commands to copy, which are good later, too.
    let lasting: String
    /// For the commands to copy.
    let hint: CommandHint
    /// The last that was told.
    private(set) var totals = BatchTotals()
    private(set) var duration: Duration?
    private(set) var uploads = 0
    /// Complete, and nothing proves that they are whole.
    private(set) var unproven = 0
    /// The first two of them.
    private(set) var unprovenNames: [String] = []
    /// Kept, as their servers said.
    private(set) var confirmed = 0
    private var groups: [Key: Group] = [:]
    /// Failures beyond `mostGroups`.
    private(set) var ungrouped = 0
    /// The first so many jobs that failed, with their groups: somebody may retry one.
    private var failed: [String: Key] = [:]

    /// - Parameter lasting: As `batch` without.
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
        // A watched folder's file that is tried again.
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

    /// They get another chance: all, or the one.
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

    /// The groups, largest first.
    var sortedGroups: [Group] {
        groups.values.sorted { ($1.count, $0.reason, $0.host) < ($0.count, $1.reason, $1.host) }
    }
}
