import Synchronization
import TransferCore
import TransferEngine
import TransferJobs

/// The exchange rules of a job whose settings name no secret and no file, so that nothing has to be read for each
/// attempt.
struct PlainRules: Sendable {
    let settings: Shared<ExchangeSettings>
    let headers: [HeaderField]
}

/// A cache of the last job's rules, because the next job mostly has the same.
final class PlainRulesCache: Sendable {
    private struct Entry {
        let job: Shared<JobSettings>
        let resends: Bool
        let rules: PlainRules
    }

    private let last = Mutex<Entry?>(nil)

    func find(_ job: Shared<JobSettings>, _ resends: Bool) -> PlainRules? {
        last.withLock { last in
            guard let last, last.job.isSame(as: job), last.resends == resends else { return nil }
            return last.rules
        }
    }

    func keep(_ rules: PlainRules, _ job: Shared<JobSettings>, _ resends: Bool) {
        last.withLock { $0 = Entry(job: job, resends: resends, rules: rules) }
    }
}
