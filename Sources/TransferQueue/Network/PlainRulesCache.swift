import Synchronization
import TransferCore
import TransferEngine
import TransferJobs

/// The rules of a job whose settings hold nothing that has to be read at each attempt: no secret, no file.
struct PlainRules: Sendable {
    let settings: Shared<ExchangeSettings>
    let headers: [HeaderField]
}

/// The rules of the last job: the next one mostly has the same.
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
