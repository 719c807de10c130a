import DequeModule
import TransferCore

/// Jobs on their way into the run: those that are claimed and haven't started, those of new batches that were never read
/// from the store, and those that sleep until their time.
struct Admission {
    private(set) var claimed: [Int64: JobRecord] = [:]
    private var reserves: [Lane: Deque<JobReserve.Job>] = [:]
    /// Lanes of reserves that have ready jobs in the store too: these came back, and go first.
    private var returned: Set<Lane> = []
    private(set) var sleepers: [SleepingJob] = []
    var descriptors = DescriptorLack()

    // MARK: Claimed jobs

    mutating func add(_ record: JobRecord) { claimed[record.id] = record }

    /// The job starts, or leaves without that.
    mutating func take(_ id: Int64) -> JobRecord? { claimed.removeValue(forKey: id) }

    /// The job is tried at another mirror.
    mutating func turn(_ id: Int64, to mirror: Int) { claimed[id]?.mirror = mirror }

    /// Nothing that is claimed starts any more.
    mutating func takeAll() -> [Int64] { exchange(&claimed, with: [:]).map(\.key) }

    func ids(where isMeant: (JobRecord) -> Bool) -> Set<Int64> { Set(claimed.values.filter(isMeant).map(\.id)) }

    // MARK: Reserves

    func hasReserve(_ lane: Lane) -> Bool { reserves[lane] != nil }

    /// How many jobs the lane's reserve has.
    func reserved(_ lane: Lane) -> Int { reserves[lane]?.count ?? 0 }

    mutating func reserve(_ jobs: Deque<JobReserve.Job>, in lane: Lane) { if !jobs.isEmpty { reserves[lane] = jobs } }

    mutating func takeReserved(_ lane: Lane, atMost limit: Int) -> [JobReserve.Job] {
        guard var jobs = reserves.removeValue(forKey: lane) else { return [] }
        let page = Array(jobs.prefix(limit))
        jobs.removeFirst(page.count)
        reserve(jobs, in: lane)
        return page
    }

    mutating func forgetReserves() { reserves.removeAll() }

    mutating func forgetReserves(of batch: Int64) {
        reserves = reserves.filter { $0.key.batch != batch }
        returned = returned.filter { $0.batch != batch }
    }

    /// The store has ready jobs of the lane.
    mutating func cameBack(_ lane: Lane) { if hasReserve(lane) { returned.insert(lane) } }

    /// Which of the wants a reserve answers, and which the store does.
    mutating func split(
        _ wants: [LaneWant]
    ) -> (ofReserves: [LaneWant], ofStore: [LaneWant]) {
        var (ofReserves, ofStore): ([LaneWant], [LaneWant]) = ([], [])
        for want in wants {
            if hasReserve(want.lane), returned.remove(want.lane) == nil {
                ofReserves.append(want)
            } else {
                ofStore.append(want)
            }
        }
        return (ofReserves, ofStore)
    }

    // MARK: Sleeping jobs

    mutating func sleep(_ job: SleepingJob) { sleepers.append(job) }

    /// What the store knows of the batch's sleeping jobs takes the place of what was known.
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
