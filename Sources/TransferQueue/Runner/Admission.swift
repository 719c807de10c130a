import TransferCore
import TransferJobs
import TransferScheduling
import TransferStore

/// The jobs on their way into the run. They are claimed and not started, or sleep until their time; the scheduler
/// decides which start.
struct Admission {
    var scheduler: Scheduler
    private(set) var claimed: [Int64: JobRecord] = [:]
    private(set) var sleepers: [SleepingJob] = []
    var descriptors = DescriptorLack()

    init(_ scheduler: Scheduler) { self.scheduler = scheduler }

    // MARK: Claimed jobs

    mutating func add(_ record: JobRecord) { claimed[record.id] = record }

    /// Takes a claimed job out, because it starts or leaves.
    mutating func take(_ id: Int64) -> JobRecord? { claimed.removeValue(forKey: id) }

    /// Sets the mirror at which the job is tried.
    mutating func turn(_ id: Int64, to mirror: Int) { claimed[id]?.mirror = mirror }

    /// Takes all claimed jobs out, so that none of them starts.
    mutating func takeAll() -> [Int64] { exchange(&claimed, with: [:]).map(\.key) }

    func ids(where isMeant: (JobRecord) -> Bool) -> Set<Int64> { Set(claimed.values.filter(isMeant).map(\.id)) }

    // MARK: Sleeping jobs

    mutating func sleep(_ job: SleepingJob) { sleepers.append(job) }

    /// Replaces the sleeping jobs of a batch by the store's current list.
    mutating func setSleepers(of batch: Int64, _ jobs: [SleepingJob]) {
        forgetSleepers(of: batch)
        sleepers += jobs
    }

    mutating func forgetSleepers(of batch: Int64) { sleepers.removeAll { $0.lane.batch == batch } }

    var nextDue: MonotonicTime? { sleepers.map(\.due).min() }

    mutating func wake(now: MonotonicTime) -> [Int64] { wake { $0.due <= now } }

    /// Wakes the jobs whose wait no server requested; a server's request holds whatever the network does.
    mutating func wakeUnasked() -> [Int64] { wake { !$0.isAsked } }

    private mutating func wake(where isMeant: (SleepingJob) -> Bool) -> [Int64] {
        let woken = sleepers.filter(isMeant).map(\.id)
        if !woken.isEmpty { sleepers.removeAll(where: isMeant) }
        return woken
    }
}
