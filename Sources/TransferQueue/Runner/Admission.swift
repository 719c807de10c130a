import TransferCore
import TransferJobs
import TransferScheduling
import TransferStore

/// Jobs on their way into the run: those that are claimed and haven't started, those that sleep until their time, and the
/// scheduler, which decides who starts.
struct Admission {
    var scheduler: Scheduler
    private(set) var claimed: [Int64: JobRecord] = [:]
    private(set) var sleepers: [SleepingJob] = []
    var descriptors = DescriptorLack()

    init(_ scheduler: Scheduler) { self.scheduler = scheduler }

    // MARK: Claimed jobs

    mutating func add(_ record: JobRecord) { claimed[record.id] = record }

    /// The job starts, or leaves without that.
    mutating func take(_ id: Int64) -> JobRecord? { claimed.removeValue(forKey: id) }

    /// The job is tried at another mirror.
    mutating func turn(_ id: Int64, to mirror: Int) { claimed[id]?.mirror = mirror }

    /// Nothing that is claimed starts any more.
    mutating func takeAll() -> [Int64] { exchange(&claimed, with: [:]).map(\.key) }

    func ids(where isMeant: (JobRecord) -> Bool) -> Set<Int64> { Set(claimed.values.filter(isMeant).map(\.id)) }

    // MARK: Sleeping jobs

    mutating func sleep(_ job: SleepingJob) { sleepers.append(job) }

    /// The store's list of the batch's sleeping jobs takes the place of the one before.
    mutating func setSleepers(of batch: Int64, _ jobs: [SleepingJob]) {
        forgetSleepers(of: batch)
        sleepers += jobs
    }

    mutating func forgetSleepers(of batch: Int64) { sleepers.removeAll { $0.lane.batch == batch } }

    var nextDue: MonotonicTime? { sleepers.map(\.due).min() }

    mutating func wake(now: MonotonicTime) -> [Int64] { wake { $0.due <= now } }

    /// A server's own wish holds whatever becomes of the network.
    mutating func wakeUnasked() -> [Int64] { wake { !$0.isAsked } }

    private mutating func wake(where isMeant: (SleepingJob) -> Bool) -> [Int64] {
        let woken = sleepers.filter(isMeant).map(\.id)
        if !woken.isEmpty { sleepers.removeAll(where: isMeant) }
        return woken
    }
}
